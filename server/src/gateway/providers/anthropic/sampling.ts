import { type Parameters, readNumber } from "../shared/parameters.ts";

export type Sampling = { temperature?: number; topP?: number; topK?: unknown };

/**
 * How tokens are chosen, where a temperature is at most 1. What the model does not let be set is left out and reported.
 * @param isFree whether anything may be set: not so of models that think, nor of newer ones
 * @param takesBoth whether temperature and top_p may be set together; temperature wins where not
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
