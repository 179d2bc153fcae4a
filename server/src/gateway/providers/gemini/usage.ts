import { lookUp } from "../../../lib/look-up.ts";
import { isObject } from "../../../lib/json.ts";
import type { ChatUsage, ModalityTokens } from "../provider.ts";

/**
 * Gemini's prompt count includes cached tokens, but not the input of its own tools, and its output count excludes
 * thoughts; OpenAI's counts include all of them. If thoughts are not stated, they are the part of the total that the
 * other counts do not cover.
 * @param searches web searches that were made for the response
 */
export function toUsage(usage: unknown, searches: number): ChatUsage | undefined {
  if (!isObject(usage)) return undefined;
  const prompt = count(usage["promptTokenCount"]);
  const answer = count(usage["candidatesTokenCount"]);
  if (prompt === undefined && answer === undefined) return undefined;
  const input = (prompt ?? 0) + (count(usage["toolUsePromptTokenCount"]) ?? 0);
  const total = count(usage["totalTokenCount"]) ?? 0;
  const unreported = total - input - (answer ?? 0);
  const reasoning = count(usage["thoughtsTokenCount"]) ?? (unreported > 0 ? unreported : undefined);
  const output = (answer ?? 0) + (reasoning ?? 0);
  const given = modalities(usage["promptTokensDetails"]);
  const cached = modalities(usage["cacheTokensDetails"]);
  const made = modalities(usage["candidatesTokensDetails"]);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: count(usage["cachedContentTokenCount"]) ?? 0,
      ...given,
      ...(cached === undefined ? {} : { cached_tokens_details: cached }),
    },
    ...(reasoning === undefined && made === undefined
      ? {}
      : {
          completion_tokens_details: { ...(reasoning === undefined ? {} : { reasoning_tokens: reasoning }), ...made },
        }),
    ...(searches > 0 ? { server_tool_use: { web_search_requests: searches } } : {}),
    ...tierOf(usage),
  };
}

/** Vertex AI reports the Gemini API's tier as a traffic type. */
const tiersByTraffic: Readonly<Record<string, string>> = { ON_DEMAND_PRIORITY: "priority", ON_DEMAND_FLEX: "flex" };

function tierOf({ serviceTier, trafficType }: Record<string, unknown>): Pick<ChatUsage, "service_tier"> {
  const tier = serviceTier ?? (typeof trafficType === "string" ? lookUp(tiersByTraffic, trafficType) : undefined);
  return typeof tier === "string" ? { service_tier: tier.toLowerCase() } : {};
}

/**
 * Later figures replace earlier ones, as they are totals; members that a later event omits or sets to null are kept.
 */
export function mergeUsage(earlier: Record<string, unknown>, later: unknown): Record<string, unknown> {
  if (!isObject(later)) return earlier;
  return { ...earlier, ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null)) };
}

const members: Readonly<Record<string, keyof ModalityTokens>> = {
  AUDIO: "audio_tokens",
  IMAGE: "image_tokens",
  VIDEO: "video_tokens",
};

/** Undefined if all tokens are text. */
function modalities(details: unknown): ModalityTokens | undefined {
  if (!Array.isArray(details)) return undefined;
  const tokens: ModalityTokens = {};
  for (const detail of details as unknown[]) {
    if (!isObject(detail) || typeof detail["modality"] !== "string") continue;
    const member = lookUp(members, detail["modality"]);
    const number = count(detail["tokenCount"]);
    if (member !== undefined && number !== undefined) tokens[member] = (tokens[member] ?? 0) + number;
  }
  return Object.keys(tokens).length === 0 ? undefined : tokens;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
