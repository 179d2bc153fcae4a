import { normalizeUsage, type CountOfUsage, type RawUsage, type Usage } from "../domain/usage.ts";
import { isObject, isRawNumber } from "../lib/json.ts";
import { pricingLimits } from "./limits.ts";

/**
 * Reads the usage object of a response in the format of any provider or SDK: OpenAI (chat, Responses, Realtime, audio,
 * images), Anthropic, Gemini, Bedrock, OpenRouter, xAI, DeepSeek, Perplexity, Mistral, Cohere, Ollama, LangChain,
 * Pydantic AI and the AI SDK. Members that are not counts are ignored.
 */
export function readUsageMembers(usage: Record<string, unknown>): RawUsage {
  const raw: RawUsage = {};
  let isExclusive = false;
  for (const name in usage) {
    const value = usage[name];
    if (value === null || value === undefined) continue;
    if (besideInput.has(name)) isExclusive = true;
    const member = counts.get(name);
    if (member !== undefined) put(raw, member, value);
    else readers.get(name)?.(raw, value);
  }
  raw.input = firstCount(usage, inputNames) ?? raw.input;
  raw.output = firstCount(usage, outputNames) ?? raw.output;
  const isUnread = (side: "input" | "output", names: readonly string[]): boolean =>
    raw[side] === undefined && isStated(usage, names);
  if (isUnread("input", inputNames) || isUnread("output", outputNames)) raw.isUnread = true;
  addBeside(raw, usage);
  raw.serviceTier = tierOf(usage);
  raw.billedUsd = billedUsd(usage);
  // `prompt_tokens` includes the cache, even if members with other vendors' names are present.
  raw.convention = isExclusive && usage["prompt_tokens"] === undefined ? "exclusive" : "inclusive";
  return raw;
}

/** Reads and normalizes the usage object of an upstream response; undefined if it contains no counts. */
export function readUsageObject(usage: Record<string, unknown>): Usage | undefined {
  return normalizeUsage(readUsageMembers(usage));
}

/** Names of total input and output. The first one present counts. */
const inputNames = [
  "prompt_tokens",
  "input_tokens",
  "inputTokens",
  "promptTokens",
  "promptTokenCount",
  "prompt_token_count",
  "prompt_eval_count",
];
const outputNames = [
  "completion_tokens",
  "output_tokens",
  "outputTokens",
  "completionTokens",
  "candidatesTokenCount",
  "candidates_token_count",
  "responseTokenCount",
  "response_token_count",
  "eval_count",
];

/** Anthropic and Bedrock count these outside the input. */
const besideInput: ReadonlySet<string> = new Set([
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "cache_creation",
  "cacheReadInputTokens",
  "cacheWriteInputTokens",
  "cacheCreationInputTokens",
  "cacheDetails",
]);

const counts: ReadonlyMap<string, CountOfUsage> = byName({
  total: ["total_tokens", "totalTokens", "totalTokenCount", "total_token_count"],
  cacheRead: [
    "cache_read_input_tokens",
    "prompt_cache_hit_tokens",
    "cacheReadInputTokens",
    "cached_tokens",
    "cachedInputTokens",
    "cachedContentTokenCount",
    "cached_content_token_count",
    "cachedContentTokens",
    "cachedPromptTokens",
    "promptCacheHitTokens",
    "cache_read_tokens",
    "num_cached_tokens",
  ],
  cacheWrite: [
    "cache_creation_input_tokens",
    "cache_creation_prompt_tokens",
    "cacheWriteInputTokens",
    "cacheCreationInputTokens",
    "cacheWriteTokens",
    "cache_write_tokens",
  ],
  reasoning: ["reasoning_tokens", "reasoningTokens", "thoughtsTokenCount", "thoughts_token_count", "thoughtsTokens"],
  audioInput: ["input_audio_tokens"],
  audioCacheRead: ["cache_audio_read_tokens"],
  audioOutput: ["output_audio_tokens"],
  webSearches: ["num_search_queries"],
  audioSeconds: ["prompt_audio_seconds", "audio_seconds"],
  characters: ["characters", "input_characters"],
  pages: ["pages_processed"],
});

/** Parts of the input, in any of the objects with its details. */
const inputDetails: ReadonlyMap<string, CountOfUsage> = byName({
  cacheRead: ["cached_tokens", "cache_read", "cacheReadTokens", "cacheRead"],
  cacheWrite: [
    "cache_write_tokens",
    "cache_creation_tokens",
    "cache_creation",
    "cache_creation_input_tokens",
    "cacheWriteTokens",
    "cacheWrite",
  ],
  cacheWrite5m: ["ephemeral_5m_input_tokens"],
  cacheWrite1h: ["ephemeral_1h_input_tokens"],
  audioInput: ["audio_tokens", "audio"],
  imageInput: ["image_tokens", "image"],
  videoInput: ["video_tokens", "video"],
});

const outputDetails: ReadonlyMap<string, CountOfUsage> = byName({
  reasoning: ["reasoning_tokens", "thinking_tokens", "reasoning", "reasoningTokens"],
  audioOutput: ["audio_tokens", "audio"],
  imageOutput: ["image_tokens", "image"],
  videoOutput: ["video_tokens", "video"],
});

const cachedDetails: ReadonlyMap<string, CountOfUsage> = byName({
  audioCacheRead: ["audio_tokens"],
  imageCacheRead: ["image_tokens"],
  videoCacheRead: ["video_tokens"],
});

const lifetimes: ReadonlyMap<string, CountOfUsage> = byName({
  cacheWrite5m: ["ephemeral_5m_input_tokens", "5m"],
  cacheWrite1h: ["ephemeral_1h_input_tokens", "1h"],
});

type Reader = (raw: RawUsage, value: unknown) => void;

const ofInput = members(inputDetails, (raw, details) => {
  read(raw, details["cached_tokens_details"], cachedDetails);
  read(raw, details["cache_creation_token_details"], lifetimes);
  // LangChain sends 0 for the total if it states the lifetimes separately.
  if (details["cache_creation"] === 0 && ((raw.cacheWrite5m ?? 0) || raw.cacheWrite1h)) raw.cacheWrite = undefined;
});
const ofOutput = members(outputDetails);

/** The AI SDK's newest format: `inputTokens: {total, noCache, cacheRead, cacheWrite}`. */
const wholeWithDetails =
  (whole: "input" | "output", details: Reader): Reader =>
  (raw, value) => {
    if (!isObject(value)) return;
    put(raw, whole, value["total"]);
    details(raw, value);
  };

const audioAndImageInput = modalities({ AUDIO: "audioInput", IMAGE: "imageInput", VIDEO: "videoInput" });
const audioAndImageCached = modalities({ AUDIO: "audioCacheRead", IMAGE: "imageCacheRead", VIDEO: "videoCacheRead" });
const audioAndImageOutput = modalities({ AUDIO: "audioOutput", IMAGE: "imageOutput", VIDEO: "videoOutput" });

/** Gemini in Python has a list of modalities under the name of OpenAI's object. */
const ofPrompt = either(ofInput, audioAndImageInput);

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["prompt_tokens_details", ofPrompt],
  ["prompt_token_details", ofInput],
  ["input_tokens_details", ofInput],
  ["input_token_details", ofInput],
  ["inputTokenDetails", ofInput],
  ["completion_tokens_details", ofOutput],
  ["output_tokens_details", ofOutput],
  ["output_token_details", ofOutput],
  ["outputTokenDetails", ofOutput],
  ["inputTokens", wholeWithDetails("input", ofInput)],
  ["outputTokens", wholeWithDetails("output", ofOutput)],
  ["cache_creation", members(lifetimes)],
  ["cacheDetails", (raw, value) => void (isObjects(value) && value.forEach((detail) => addLifetime(raw, detail)))],
  ["server_tool_use", (raw, value) => void (isObject(value) && put(raw, "webSearches", value["web_search_requests"]))],
  ["inference_geo", (raw, value) => void (typeof value === "string" && (raw.region = value.toLowerCase()))],
  // `{type: "duration", seconds}`
  ["seconds", (raw, value) => put(raw, "audioSeconds", value)],
  ["billed_units", readBilledUnits],
  ["promptTokensDetails", audioAndImageInput],
  ["cacheTokensDetails", audioAndImageCached],
  ["cache_tokens_details", audioAndImageCached],
  ["candidatesTokensDetails", audioAndImageOutput],
  ["candidates_tokens_details", audioAndImageOutput],
  ["responseTokensDetails", audioAndImageOutput],
  ["response_tokens_details", audioAndImageOutput],
]);

/** Cohere bills other counts than the tokenizer's. */
function readBilledUnits(raw: RawUsage, value: unknown): void {
  if (!isObject(value)) return;
  put(raw, "input", value["input_tokens"]);
  put(raw, "output", value["output_tokens"]);
  put(raw, "rerankSearches", value["search_units"]);
  put(raw, "images", value["images"]);
}

/** Gemini's list of a count by modality, in camel case or in Python's spelling. */
function modalities(members: Readonly<Record<string, CountOfUsage>>): Reader {
  return (raw, value) => {
    if (!isObjects(value)) return;
    for (const { modality, tokenCount, token_count } of value) {
      const member = typeof modality === "string" ? members[modality.toUpperCase()] : undefined;
      if (member !== undefined) put(raw, member, tokenCount ?? token_count);
    }
  };
}

function either(ofObject: Reader, ofList: Reader): Reader {
  return (raw, value) => (Array.isArray(value) ? ofList : ofObject)(raw, value);
}

function addLifetime(raw: RawUsage, { ttl, inputTokens }: Record<string, unknown>): void {
  const member = typeof ttl === "string" ? lifetimes.get(ttl) : undefined;
  const tokens = toCount(inputTokens);
  if (member !== undefined && tokens !== undefined) raw[member] = (raw[member] ?? 0) + tokens;
}

/** Gemini counts tool results outside the prompt, and reasoning outside the output. */
function addBeside(raw: RawUsage, usage: Record<string, unknown>): void {
  const read = toCount(usage["toolUsePromptTokenCount"] ?? usage["tool_use_prompt_token_count"]);
  if (read !== undefined) raw.input = (raw.input ?? 0) + read;
  const thoughts = toCount(usage["thoughtsTokenCount"] ?? usage["thoughts_token_count"]);
  if (thoughts !== undefined) raw.output = (raw.output ?? 0) + thoughts;
  // Gemini's total is the sum of these four: a remainder is reasoning that was not stated separately.
  const isGemini = (usage["promptTokenCount"] ?? usage["prompt_token_count"]) !== undefined;
  if (!isGemini || thoughts !== undefined || raw.total === undefined) return;
  const rest = raw.total - (raw.input ?? 0) - (raw.output ?? 0);
  if (rest > 0) [raw.output, raw.reasoning] = [(raw.output ?? 0) + rest, rest];
}

/** Anthropic states its fast mode apart from its tiers; the two cannot be combined. Vertex AI states a traffic type. */
export function tierOf(usage: Record<string, unknown>): string | undefined {
  if (usage["speed"] === "fast") return "fast";
  const { service_tier, serviceTier, trafficType, traffic_type } = usage;
  const stated = service_tier ?? (isObject(serviceTier) ? serviceTier["type"] : serviceTier);
  if (typeof stated === "string") return stated.toLowerCase();
  const traffic = trafficType ?? traffic_type;
  return typeof traffic === "string" ? tiersByTraffic.get(traffic) : undefined;
}

const tiersByTraffic: ReadonlyMap<string, string> = new Map([
  ["ON_DEMAND_PRIORITY", "priority"],
  ["ON_DEMAND_FLEX", "flex"],
  ["PROVISIONED_THROUGHPUT", "provisioned"],
]);

const ticksPerUsd = 1e10;

/**
 * The billed amount of a call, if its provider sends it with the usage: xAI in ticks, Perplexity as a total, OpenRouter
 * as `cost`; with a key of the caller's own, the upstream provider's charge is added to the latter. 0 counts as a price
 * only if the provider states that no such key was used; otherwise it means unknown.
 */
function billedUsd(usage: Record<string, unknown>): number | undefined {
  const { cost, cost_in_usd_ticks: ticks, is_byok: hasOwnKey } = usage;
  if (typeof ticks === "number") return positive(usd(ticks / ticksPerUsd));
  if (isObject(cost)) return positive(usd(cost["total_cost"]));
  if (hasOwnKey === false) return usd(cost);
  const details = usage["cost_details"];
  const beside = hasOwnKey === true && isObject(details) ? usd(details["upstream_inference_cost"]) : undefined;
  const own = usd(cost);
  return own === undefined ? undefined : positive(own + (beside ?? 0));
}

function usd(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= pricingLimits.costUsdMax ? value : undefined;
}

function positive(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 ? value : undefined;
}

function byName(table: { [M in CountOfUsage]?: readonly string[] }): ReadonlyMap<string, CountOfUsage> {
  const entries = Object.entries(table) as Array<[CountOfUsage, readonly string[]]>;
  return new Map(entries.flatMap(([member, names]) => names.map((name): [string, CountOfUsage] => [name, member])));
}

function members(
  table: ReadonlyMap<string, CountOfUsage>,
  more?: (raw: RawUsage, value: Record<string, unknown>) => void,
): Reader {
  return (raw, value) => {
    read(raw, value, table);
    if (more !== undefined && isObject(value)) more(raw, value);
  };
}

function read(raw: RawUsage, value: unknown, table: ReadonlyMap<string, CountOfUsage>): void {
  if (!isObject(value)) return;
  for (const name in value) {
    const member = table.get(name);
    if (member !== undefined) put(raw, member, value[name]);
  }
}

/** The first of several names of one count applies. */
function put(raw: RawUsage, member: CountOfUsage, value: unknown): void {
  if (raw[member] !== undefined) return;
  const read = member === "audioSeconds" ? toSeconds(value) : toCount(value);
  if (read !== undefined) raw[member] = read;
}

function firstCount(usage: Record<string, unknown>, names: readonly string[]): number | undefined {
  for (const name of names) {
    const count = toCount(usage[name]);
    if (count !== undefined) return count;
  }
  return undefined;
}

/** Whether any of the names has a value that looks like a count, valid or not. */
function isStated(usage: Record<string, unknown>, names: readonly string[]): boolean {
  return names.some((name) => {
    const value = usage[name];
    return typeof value === "number" || isRawNumber(value) || (typeof value === "string" && value !== "");
  });
}

/** A non-negative integer, also as text. */
function toCount(value: unknown): number | undefined {
  const number = toNumber(value);
  return number !== undefined && Number.isSafeInteger(number) && number >= 0 && number <= pricingLimits.countMax
    ? number
    : undefined;
}

function toSeconds(value: unknown): number | undefined {
  const number = toNumber(value);
  return number !== undefined && number > 0 && number <= pricingLimits.secondsMax ? number : undefined;
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (isRawNumber(value)) return Number(value.rawJSON);
  return typeof value === "string" && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}

function isObjects(value: unknown): value is Array<Record<string, unknown>> {
  return Array.isArray(value) && value.every(isObject);
}
