import { finiteNumber, Problem, seconds } from "../../validation/field-readers.ts";
import { parseTimeNs } from "../../lib/time.ts";
import type { SpanView } from "./convention.ts";

/** Key → how many of its units make a second, where the scope matters in the spans of that alone. */
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

/** Keys that say when the first token came, as ISO text, once or twice JSON-encoded. */
const instants = ["langfuse.observation.completion_start_time", "mastra.completion_start_time"];

/** Events of a stream's first piece, or of each piece: the AI SDK's, OpenInference's, LangSmith's, OpenLLMetry's and its forks'. */
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

/** Text without the quotes around it, which JSON encoded twice has several of. No instant is longer than this. */
function instantIn(text: string): bigint | undefined {
  return text.length > 64 ? undefined : parseTimeNs(text.replace(/^["\\]+|["\\]+$/g, ""));
}
