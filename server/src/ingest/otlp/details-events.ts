import { isContentEvent } from "./conventions/gen-ai-events.ts";
import type { AttributeValue, Attributes, OtlpEvent } from "./export-request.ts";

/** The event with all details of one call, in addition to or instead of the attributes of its span. */
const detailsEvent = "gen_ai.client.inference.operation.details";
const toolsKey = "gen_ai.tool.definitions";
const contentKeys: ReadonlySet<string> = new Set([
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.system_instructions",
]);
const modelKeys = ["gen_ai.request.model", "gen_ai.response.model"];

/** The attributes of a span, completed with those of its details events; of two lists of tools, the longer one. */
export function withDetails(attributes: Attributes, events: readonly OtlpEvent[]): Attributes {
  const details = events.filter(({ name }) => name === detailsEvent);
  if (details.length === 0) return attributes;
  const all = new Map(attributes);
  for (const [key, value] of details.flatMap((event) => [...event.attributes])) {
    if (contentKeys.has(key)) continue;
    const own = all.get(key);
    if (own === undefined || own === "" || (key === toolsKey && sizeOf(value) > sizeOf(own))) all.set(key, value);
  }
  return all;
}

function sizeOf(value: AttributeValue | undefined): number {
  return (typeof value === "string" ? value : JSON.stringify(value ?? null)).length;
}

/**
 * Whether records of a call refer to a span of this kind, which is not a call: some instrumentations record the span
 * around the call instead.
 */
export function isAroundCall(logType: unknown, events: readonly OtlpEvent[]): boolean {
  return (logType === "workflow" || logType === "task") && events.some(isContentEvent);
}

/** Separates the records of a call from the others. */
export function callEvents(events: readonly OtlpEvent[]): { ofCall: OtlpEvent[]; others: OtlpEvent[] } {
  const { ofCall = [], others = [] } = Object.groupBy(events, (event) => (isContentEvent(event) ? "ofCall" : "others"));
  return { ofCall, others };
}

export type Call = { model: string; parent: string; startNs: bigint; endNs: bigint; isAnswered: boolean };

/**
 * The call among those of a trace that a record belongs to: of the same model, if the record names one, running when it
 * was recorded or just ended, and without a response yet. Calls below the span that the record names come first, then
 * the latest one.
 */
export function callOf<C extends Call>(event: OtlpEvent, spanId: string, calls: readonly C[]): C | undefined {
  const models = modelKeys.map((key) => event.attributes.get(key)).filter((model) => typeof model === "string");
  const fits = calls.filter(
    ({ model, startNs, endNs, isAnswered }) =>
      !isAnswered &&
      (models.length === 0 || models.includes(model)) &&
      startNs <= event.timeNs &&
      event.timeNs <= endNs + justOverNs,
  );
  const [first] = fits.toSorted(
    (a, b) => Number(b.parent === spanId) - Number(a.parent === spanId) || Number(b.startNs - a.startNs),
  );
  return first;
}

const justOverNs = 1_000_000_000n;
