import { isContentEvent } from "./conventions/gen-ai-events.ts";
import type { AttributeValue, Attributes, OtlpEvent } from "./export-request.ts";

/** The event that says all of one call, beside or instead of the attributes of its span. */
const detailsEvent = "gen_ai.client.inference.operation.details";
const toolsKey = "gen_ai.tool.definitions";
const contentKeys: ReadonlySet<string> = new Set([
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.system_instructions",
]);
const modelKeys = ["gen_ai.request.model", "gen_ai.response.model"];

/** What a span says, with what its details say where it says nothing; of two lists of tools, the one that says more. */
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
 * Whether records of a call name a span of this kind, which is none: some instrumentations have them name the span around the
 * call.
 */
export function isAroundCall(logType: unknown, events: readonly OtlpEvent[]): boolean {
  return (logType === "workflow" || logType === "task") && events.some(isContentEvent);
}

/** The records that tell of a call, and the others. */
export function callEvents(events: readonly OtlpEvent[]): { ofCall: OtlpEvent[]; others: OtlpEvent[] } {
  const { ofCall = [], others = [] } = Object.groupBy(events, (event) => (isContentEvent(event) ? "ofCall" : "others"));
  return { ofCall, others };
}

export type Call = { model: string; parent: string; startNs: bigint; endNs: bigint; isAnswered: boolean };

/**
 * The call among those of a trace that a record tells of: of the same model, where it names one, running when it was recorded or
 * just over, and not yet with an answer; below the span that the record names before others, and the latest of these.
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
