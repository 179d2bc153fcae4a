import type { Usage } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import type { PriceBook } from "../../pricing/price-book.ts";
import { tierOf } from "../../pricing/usage-object.ts";
import type { Operation } from "../providers/quirks.ts";
import type { Plan } from "../routing/plan.ts";
import { completionCeiling } from "./completion-ceiling.ts";
import { inputAudioTokens, playingSeconds } from "./media-ceiling.ts";
import { promptCeiling } from "./prompt-ceiling.ts";

/** The highest usage of a call: tokens, and seconds of a recording for models priced by time. */
export type UsageCeiling = {
  promptTokens: number;
  audioTokens: number;
  completionTokens: number;
  /** Whether the prompt may be written to a cache, and whether the response may be audio: both cost more. */
  writesCache: boolean;
  speaks: boolean;
  searches: number;
  /** The requested service tier. It is unknown whether the provider grants it. */
  tier: string | undefined;
  seconds?: number;
};

/** The request to a provider. */
export type EstimatedRequest = {
  /** The members sent to the provider. */
  members: Record<string, unknown>;
  recording?: Buffer;
};

/** A model that may answer; `provider` is "" if it is not known yet. */
type EstimatedModel = { model: string; provider: string };

type Estimator = (request: EstimatedRequest, model: string) => UsageCeiling;

/** Tokens per second of fast speech. */
const spokenTokensPerSecond = 8;

const generate: Estimator = ({ members }, model) => {
  const { tokens, audioTokens, writesCache } = promptCeiling(members, model);
  const { modalities } = members;
  const speaks = Array.isArray(modalities) && modalities.includes("audio");
  const completionTokens = completionCeiling(members, model);
  return { promptTokens: tokens, audioTokens, completionTokens, writesCache, speaks, ...extrasOf(members) };
};

function extrasOf(members: Record<string, unknown>): Pick<UsageCeiling, "searches" | "tier"> {
  return { searches: searchCeiling(members), tier: tierOf(members) };
}

const estimators: Readonly<Record<Operation, Estimator>> = {
  chat: generate,
  responses: generate,
  messages: generate,
  count_tokens: () => ({
    promptTokens: 0,
    audioTokens: 0,
    completionTokens: 0,
    writesCache: false,
    speaks: false,
    searches: 0,
    tier: undefined,
  }),
  embeddings: (request, model) => ({ ...generate(request, model), completionTokens: 0 }),
  transcription: ({ members, recording = Buffer.alloc(0) }, model) => {
    const seconds = playingSeconds(recording);
    const { tokens, writesCache } = promptCeiling(members, model);
    const completionTokens = Math.ceil(seconds * spokenTokensPerSecond);
    const audioTokens = inputAudioTokens(seconds);
    const text = { promptTokens: tokens, completionTokens, writesCache, speaks: false };
    return { ...text, audioTokens, seconds, ...extrasOf(members) };
  },
};

export function usageCeiling(operation: Operation, request: EstimatedRequest, model: string): UsageCeiling {
  return estimators[operation](request, model);
}

/**
 * The highest possible cost of a call in USD, over all models that may answer it: this amount is reserved from a
 * budget. Null if no price is known.
 */
export function estimateCost(
  prices: PriceBook,
  call: {
    organizationId: string;
    operation: Operation;
    request: EstimatedRequest;
    plan: Pick<Plan, "first" | "models">;
    atMs: number;
  },
): number | null {
  const { organizationId, operation, request, plan, atMs } = call;
  const timestampNs = BigInt(Math.round(atMs)) * 1_000_000n;
  const costs = modelsOf(plan).flatMap((model) =>
    usagesOf(usageCeiling(operation, request, model.model)).flatMap(
      (usage) => prices.price({ organizationId, ...model, usage, timestampNs }).costUsd ?? [],
    ),
  );
  return costs.length === 0 ? null : Math.max(...costs);
}

function modelsOf({ first, models }: Pick<Plan, "first" | "models">): EstimatedModel[] {
  return [
    ...first.map(({ target: { model, provider } }) => ({ model, provider })),
    ...models.slice(first.length > 0 ? 1 : 0).map((model) => ({ model, provider: "" })),
  ];
}

/** Ways to count the possible usage: it is unknown which of them the model's price applies to. */
function usagesOf(ceiling: UsageCeiling): Usage[] {
  const { promptTokens, audioTokens, completionTokens, writesCache, speaks, searches, tier, seconds } = ceiling;
  const input = promptTokens + audioTokens;
  const text = {
    input,
    output: completionTokens,
    total: input + completionTokens,
    fresh: input,
    cacheRead: undefined,
    cacheWrite: undefined,
    cacheWrite1h: undefined,
    reasoning: undefined,
    audioInput: undefined,
    audioOutput: undefined,
    webSearches: searches,
  };
  const usage = { ...text, audioInput: audioTokens, audioOutput: speaks ? completionTokens : undefined };
  const written = { ...usage, fresh: audioTokens, cacheWrite: promptTokens, cacheWrite1h: promptTokens };
  const usages: Usage[] = [text, usage, ...(writesCache ? [written] : [])];
  if (tier !== undefined) usages.push(...usages.map((each) => ({ ...each, serviceTier: tier })));
  if (seconds !== undefined) usages.push({ ...nothing, audioSeconds: seconds });
  return usages;
}

const nothing: Usage = {
  input: undefined,
  output: undefined,
  total: undefined,
  fresh: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  cacheWrite1h: undefined,
  reasoning: undefined,
  audioInput: undefined,
  audioOutput: undefined,
};

/** Searches per response without a limit: reasoning models make about eight. */
const usualSearches = 10;

/** Web search tools, by their type at OpenAI and Anthropic, or their member name at Google. */
const searchTool = /^(web_?search|google_?search|google_?maps)/i;

/** The most searches, each of which is charged, that a request lets its provider make. */
function searchCeiling({ tools }: Record<string, unknown>): number {
  let searches = 0;
  for (const tool of Array.isArray(tools) ? (tools as unknown[]) : []) {
    if (!isObject(tool)) continue;
    const names = typeof tool["type"] === "string" ? [tool["type"]] : Object.keys(tool);
    if (!names.some((name) => searchTool.test(name))) continue;
    const { max_uses } = tool;
    searches += typeof max_uses === "number" && max_uses >= 0 ? max_uses : usualSearches;
  }
  return searches;
}
