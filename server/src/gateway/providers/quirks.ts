import { modelSegment } from "./model-segment.ts";
import type { Target } from "./provider.ts";

/** How one OpenAI-shaped provider differs from OpenAI. */
export type Quirks = {
  /** Where it answers by default, without a trailing slash; undefined where every customer has a host of its own. */
  baseUrl: string | undefined;
  /** The path and query of an operation below the base URL. */
  path: (operation: Operation, target: Target) => string;
  /** The header that carries the key. */
  auth: (apiKey: string) => readonly [name: string, value: string];
  /**
   * How usage of a stream is had: `asked` by `stream_options.include_usage`, or it comes `always` and that member is
   * refused or unknown.
   */
  streamUsage: "asked" | "always";
  /** Members of the body that it refuses and that change nothing where they are left out. */
  omit: readonly string[];
};

export type Operation = "chat" | "embeddings" | "responses" | "transcription";

const paths: Record<Operation, string> = {
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
  streamUsage: "asked",
  // The gateway does it.
  omit: ["echo"],
};

const at = (baseUrl: string, differences: Partial<Quirks> = {}): Quirks => ({ ...plain, baseUrl, ...differences });

/** Azure's deployments have a path each, unless the base URL is that of its newer API. */
const azurePath: Quirks["path"] = (operation, { model, baseUrl, credential }) => {
  if (baseUrl.endsWith("/openai/v1")) return paths[operation];
  const version = credential.fields["api_version"] ?? "2024-10-21";
  const root = baseUrl.endsWith("/openai") ? "" : "/openai";
  const deployment = operation === "responses" ? "" : `/deployments/${modelSegment(model)}`;
  return `${root}${deployment}${paths[operation]}?api-version=${encodeURIComponent(version)}`;
};

/** Providers that speak OpenAI's wire. Any other base URL is `custom`. */
export const openaiShaped = {
  openai: at("https://api.openai.com/v1"),
  azure: { ...plain, path: azurePath, auth: (apiKey) => ["api-key", apiKey] },
  groq: at("https://api.groq.com/openai/v1"),
  together: at("https://api.together.xyz/v1"),
  fireworks: at("https://api.fireworks.ai/inference/v1"),
  deepseek: at("https://api.deepseek.com/v1"),
  mistral: at("https://api.mistral.ai/v1", { streamUsage: "always" }),
  xai: at("https://api.x.ai/v1"),
  openrouter: at("https://openrouter.ai/api/v1"),
  perplexity: at("https://api.perplexity.ai", { streamUsage: "always" }),
  cerebras: at("https://api.cerebras.ai/v1"),
  ollama: at("http://127.0.0.1:11434/v1"),
  vllm: at("http://127.0.0.1:8000/v1"),
  custom: plain,
} as const satisfies Record<string, Quirks>;
