import { anyDialect, type Dialect } from "./dialect.ts";
import { modelSegment } from "./model-segment.ts";
import type { Credential, RelayedOperation, Target } from "./provider.ts";
import * as dialects from "./vendor-dialects.ts";

/** How one OpenAI-compatible provider differs from OpenAI. */
export type Quirks = {
  /**
   * The default base URL, without a trailing slash; a function if it depends on the credential; undefined if every
   * customer has a different host.
   */
  baseUrl: string | ((credential: Credential) => string | undefined) | undefined;
  /** The path and query of an operation below the base URL. */
  path: (operation: OpenaiOperation, target: Target) => string;
  /** The header that carries the key. */
  auth: (apiKey: string) => readonly [name: string, value: string];
  /**
   * How a stream reports usage: `requested` requires `stream_options.include_usage`; `always` needs no such member, which
   * is then refused or unknown.
   */
  streamUsage: "requested" | "always";
  /** Members of the body that it refuses and that can be omitted without effect. */
  omit: readonly string[];
  /** The chat parameters that it accepts. */
  dialect: Dialect | typeof anyDialect;
};

/** Operations of OpenAI's API. */
export type OpenaiOperation = "chat" | "embeddings" | "responses" | "transcription";

export type Operation = OpenaiOperation | RelayedOperation;

const paths: Record<OpenaiOperation, string> = {
  chat: "/chat/completions",
  embeddings: "/embeddings",
  responses: "/responses",
  transcription: "/audio/transcriptions",
};

const bearer: Quirks["auth"] = (apiKey) => ["authorization", `Bearer ${apiKey}`];

const plain: Quirks = {
  baseUrl: undefined,
  path: (operation) => paths[operation],
  auth: bearer,
  streamUsage: "requested",
  // The gateway implements it.
  omit: ["echo"],
  dialect: anyDialect,
};

const at = (baseUrl: Quirks["baseUrl"], dialect: Quirks["dialect"], differences: Partial<Quirks> = {}): Quirks => ({
  ...plain,
  baseUrl,
  dialect,
  ...differences,
});

/** Each Azure deployment has its own path, unless the base URL is that of its newer API. */
const azurePath: Quirks["path"] = (operation, { model, baseUrl, credential }) => {
  if (baseUrl.endsWith("/openai/v1")) return paths[operation];
  const version = credential.fields["api_version"] ?? "2024-10-21";
  const root = baseUrl.endsWith("/openai") ? "" : "/openai";
  const deployment = operation === "responses" ? "" : `/deployments/${modelSegment(model)}`;
  return `${root}${deployment}${paths[operation]}?api-version=${encodeURIComponent(version)}`;
};

/** Cloudflare's base URL contains the account id. */
const cloudflareUrl = ({ fields }: Credential): string | undefined => {
  const account = fields["account_id"] ?? "";
  return /^[0-9a-f]{32}$/i.test(account) ? `https://api.cloudflare.com/client/v4/accounts/${account}/ai/v1` : undefined;
};

/** Databricks serves models per workspace: `https://name.cloud.databricks.com/serving-endpoints`. */
const databricksHost: Quirks["baseUrl"] = undefined;

/** Providers with OpenAI's wire format. Any other base URL is `custom`. */
export const openaiShaped = {
  openai: at("https://api.openai.com/v1", dialects.openai),
  azure: at(undefined, dialects.azure, { path: azurePath, auth: (apiKey) => ["api-key", apiKey] }),
  groq: at("https://api.groq.com/openai/v1", dialects.groq),
  together: at("https://api.together.xyz/v1", dialects.together),
  fireworks: at("https://api.fireworks.ai/inference/v1", dialects.fireworks),
  deepseek: at("https://api.deepseek.com/v1", dialects.deepseek),
  mistral: at("https://api.mistral.ai/v1", dialects.mistral, { streamUsage: "always" }),
  xai: at("https://api.x.ai/v1", dialects.xai),
  openrouter: at("https://openrouter.ai/api/v1", dialects.openrouter),
  perplexity: at("https://api.perplexity.ai", dialects.perplexity, { streamUsage: "always" }),
  cerebras: at("https://api.cerebras.ai/v1", dialects.cerebras),
  moonshot: at("https://api.moonshot.ai/v1", dialects.moonshot),
  dashscope: at("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", dialects.dashscope),
  zhipu: at("https://api.z.ai/api/paas/v4", dialects.zhipu, { streamUsage: "always" }),
  minimax: at("https://api.minimax.io/v1", dialects.minimax),
  cohere: at("https://api.cohere.ai/compatibility/v1", dialects.cohere, { streamUsage: "always" }),
  nvidia: at("https://integrate.api.nvidia.com/v1", dialects.nvidia),
  huggingface: at("https://router.huggingface.co/v1", dialects.huggingface),
  sambanova: at("https://api.sambanova.ai/v1", dialects.sambanova),
  cloudflare: at(cloudflareUrl, dialects.cloudflare),
  github: at("https://models.github.ai/inference", dialects.github),
  deepinfra: at("https://api.deepinfra.com/v1/openai", dialects.openModels),
  nebius: at("https://api.tokenfactory.nebius.com/v1", dialects.openModels),
  novita: at("https://api.novita.ai/openai/v1", dialects.openModels),
  hyperbolic: at("https://api.hyperbolic.xyz/v1", dialects.openModels),
  baseten: at("https://inference.baseten.co/v1", dialects.openModels),
  databricks: at(databricksHost, dialects.databricks),
  ollama: at("http://127.0.0.1:11434/v1", dialects.ollama),
  vllm: at("http://127.0.0.1:8000/v1", dialects.localServer),
  lmstudio: at("http://127.0.0.1:1234/v1", dialects.localServer),
  llamacpp: at("http://127.0.0.1:8080/v1", dialects.localServer),
  custom: plain,
} as const satisfies Record<string, Quirks>;

/** Self-hosted servers, which require no key unless they were started with one. */
export const keylessProviders: ReadonlySet<string> = new Set(["ollama", "vllm", "lmstudio", "llamacpp"]);
