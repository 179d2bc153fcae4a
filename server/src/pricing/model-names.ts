import { tableName } from "./providers.ts";

/**
 * A name under which a table may list a model. `isModelOfSnapshot`: a dated snapshot was requested, and this is its
 * model.
 */
export type ListedName = { name: string; isModelOfSnapshot: boolean };

/** Maps vendors' moving aliases and gateways' model names to the names in the price tables. */
const aliasesByProvider = {
  openai: { "chat-latest": "gpt-chat-latest" },
  // https://ai.google.dev/gemini-api/docs/models
  google: {
    "gemini-flash-latest": "gemini-3.8-flash",
    "gemini-flash-lite-latest": "gemini-3.5-flash-lite",
    "gemini-pro-latest": "gemini-3.1-pro-preview",
    "gemini-embedding-2-preview": "gemini-embedding-2",
  },
  // https://docs.mistral.ai/getting-started/models
  mistral: {
    "devstral-latest": "devstral-2512",
    "devstral-medium-latest": "devstral-2512",
    "ministral-3b-latest": "ministral-3b-2512",
    "ministral-14b-latest": "ministral-14b-2512",
    "mistral-embed-2312": "mistral-embed",
  },
  // https://docs.x.ai/docs/models
  "x-ai": { "grok-build-latest": "grok-4.5" },
  cerebras: { "llama-3.1-8b": "llama3.1-8b" },
} satisfies Record<string, Record<string, string>>;

/** A Map, because names come from callers and must not reach the prototype. */
const aliases: ReadonlyMap<string, string> = new Map(
  Object.entries(aliasesByProvider).flatMap(([provider, names]) =>
    Object.entries(names).map(([alias, name]): [string, string] => [`${provider}/${alias}`, name]),
  ),
);

/** The names to look up at a provider, the most exact first. */
export function namesAt(provider: string, model: string): readonly ListedName[] {
  const names = spellingsAt(provider, model);
  const renamed = names.flatMap((name) => aliases.get(`${provider}/${name.toLowerCase()}`) ?? []);
  const exact = [...names, ...renamed].map((name) => ({ name, isModelOfSnapshot: false }));
  const undated = names
    .map((name) => ({ name: withoutDate(name), isModelOfSnapshot: true }))
    .filter(({ name }) => !names.includes(name));
  return [...exact, ...undated];
}

/**
 * Includes names without the prefix of a gateway, resource name or ARN. Tables match parts of names, so the full path
 * comes after the name within it. For a plain `provider/model` the full name comes first, because a provider may sell
 * both `provider/model` and `model`, at different prices.
 */
function spellingsAt(provider: string, model: string): string[] {
  const slash = model.indexOf("/");
  const isOfProvider = slash > 0 && tableName(model.slice(0, slash)) === provider;
  // `models/…` and `publishers/…/models/…` of Google, `bedrock/us-east-1/…` of LiteLLM.
  const isPath = /^(arn:|models\/|publishers\/|projects\/)/.test(model) || (isOfProvider && provider === "aws");
  const names = isPath ? [model.slice(model.lastIndexOf("/") + 1), model] : [model];
  if (isOfProvider) names.push(model.slice(slash + 1));
  // Vertex AI.
  return [...new Set(names.map((name) => name.replace(/@(default|latest)$/, "")))];
}

/** Converts `claude-sonnet-5-5-20260928-v1:0` to `claude-sonnet-5-5-v1:0`. */
export function withoutDate(model: string): string {
  return model.replace(/[-@]20\d{2}-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?=$|-v\d)/, "");
}
