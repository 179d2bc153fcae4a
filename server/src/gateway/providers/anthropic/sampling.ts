import { type Parameters, readNumber } from "../shared/parameters.ts";

export type Sampling = { temperature?: number; topP?: number; topK?: unknown };

/**
 * Reads the sampling parameters for models whose temperature is at most 1. Parameters that the model does not accept
 * are omitted and reported.
 * @param isFree whether sampling may be set: false for models that think, and for newer ones
 * @param takesBoth whether temperature and top_p may be set together; if not, temperature takes precedence
 */
export function readSampling({ members, adjusted }: Parameters, isFree: boolean, takesBoth: boolean): Sampling {
  const temperature = readNumber(members, "temperature", 0, 2);
  const topP = readNumber(members, "top_p", 0, 1);
  const topK = members["top_k"];
  const result: Sampling = {};
  if (temperature !== undefined && temperature !== 1) {
    if (!isFree || temperature > 1) adjusted.push("temperature");
    if (isFree) result.temperature = Math.min(temperature, 1);
  }
  if (topP !== undefined && topP !== 1) {
    if (isFree && (takesBoth || result.temperature === undefined)) result.topP = topP;
    else adjusted.push("top_p");
  }
  if (topK !== undefined) {
    if (isFree) result.topK = topK;
    else adjusted.push("top_k");
  }
  return result;
}
