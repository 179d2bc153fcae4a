import { finiteNumber, Problem, seconds } from "../../validation/field-readers.ts";
import { parseTimeNs } from "../../lib/time.ts";
import type { SpanView } from "./convention.ts";

/** Key → its units per second, and the scope to which an entry is limited. */
const durations: ReadonlyArray<readonly [key: string, perSecond: number, scope?: RegExp]> = [
  ["gen_ai.server.time_to_first_token", 1000, /^strands/],
  ["gen_ai.server.time_to_first_token", 1],
  ["gen_ai.response.time_to_first_chunk", 1],
  ["gen_ai.client.operation.time_to_first_chunk", 1],
  ["gen_ai.usage.ttft", 1],
  ["ai.response.msToFirstChunk", 1000],
  ["ai.stream.msToFirstChunk", 1000],
  ["lk.response.ttft", 1],
  ["metrics.ttfb", 1, /^pipecat/],
  ["ttft_ms", 1000],
];

/** Keys with the time of the first token, as ISO text, JSON-encoded once or twice. */
const instants = ["langfuse.observation.completion_start_time", "mastra.completion_start_time"];

/**
 * Events of a stream's first piece, or of each piece: those of the AI SDK, OpenInference, LangSmith, OpenLLMetry and
 * its forks.
 */
export const pieceEvent = /^(?:ai\.stream\.firstChunk|First Token Stream Event|new_token)$|content\.completion\.chunk$/;

/** Seconds from the start of the span to the first token. */
export function timeToFirstToken({ bag, span, scopeName, events }: SpanView): number | undefined {
  for (const [key, perSecond, scope] of durations) {
    if (scope?.test(scopeName) === false) continue;
    const given = finiteNumber(bag.peek(key) ?? "");
    const value = typeof given === "number" ? seconds(given / perSecond) : undefined;
    if (value === undefined || value instanceof Problem) continue;
    bag.accept(key);
    return value;
  }
  for (const key of instants) {
    const firstNs = instantIn(bag.peekText(key) ?? "");
    if (firstNs === undefined || firstNs < span.startNs) continue;
    bag.accept(key);
    return Number(firstNs - span.startNs) / 1e9;
  }
  const times = events.flatMap(({ name, timeNs }) => (pieceEvent.test(name) && timeNs >= span.startNs ? [timeNs] : []));
  if (times.length === 0) return undefined;
  const firstNs = times.reduce((first, timeNs) => (timeNs < first ? timeNs : first));
  return Number(firstNs - span.startNs) / 1e9;
}

/** Parses a time, removing the quotes of (repeated) JSON encoding. No time text is longer than this. */
function instantIn(text: string): bigint | undefined {
  return text.length > 64 ? undefined : parseTimeNs(text.replace(/^["\\]+|["\\]+$/g, ""));
}
