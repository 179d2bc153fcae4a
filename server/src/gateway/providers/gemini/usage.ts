import { isObject } from "../../../lib/json.ts";
import type { ChatUsage } from "../provider.ts";

/**
 * Gemini counts cached tokens within the prompt, what its own tools read beside it, and thoughts beside the answer; OpenAI's
 * counts hold all of them.
 */
export function toUsage(usage: unknown): ChatUsage | undefined {
  if (!isObject(usage)) return undefined;
  const prompt = count(usage["promptTokenCount"]);
  const answer = count(usage["candidatesTokenCount"]);
  if (prompt === undefined && answer === undefined) return undefined;
  const input = (prompt ?? 0) + (count(usage["toolUsePromptTokenCount"]) ?? 0);
  const reasoning = count(usage["thoughtsTokenCount"]);
  const output = (answer ?? 0) + (reasoning ?? 0);
  const heard = audio(usage["promptTokensDetails"]);
  const spoken = audio(usage["candidatesTokensDetails"]);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: count(usage["cachedContentTokenCount"]) ?? 0,
      ...(heard === undefined ? {} : { audio_tokens: heard }),
    },
    ...(reasoning === undefined && spoken === undefined
      ? {}
      : {
          completion_tokens_details: {
            ...(reasoning === undefined ? {} : { reasoning_tokens: reasoning }),
            ...(spoken === undefined ? {} : { audio_tokens: spoken }),
          },
        }),
  };
}

/** Later figures replace earlier ones, as they are totals; what a later event leaves out or nulls stays. */
export function mergeUsage(earlier: Record<string, unknown>, later: unknown): Record<string, unknown> {
  if (!isObject(later)) return earlier;
  return { ...earlier, ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null)) };
}

function audio(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const detail = (details as unknown[]).find((one) => isObject(one) && one["modality"] === "AUDIO");
  return isObject(detail) ? count(detail["tokenCount"]) : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
