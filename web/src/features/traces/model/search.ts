import { at } from "./at.ts";
import { spanFlags, type TraceSpans } from "./trace-spans.ts";

/**
 * Spans that contain every word of a query in name, kind, model, provider, customer, error or an id, in tree order. A
 * text shared by many spans is searched once.
 */
export function findSpans(spans: TraceSpans, query: string): Int32Array<ArrayBuffer> {
  const words = query.toLowerCase().split(/\s+/u).filter(Boolean);
  if (words.length === 0) return new Int32Array();
  const found: number[] = [];
  const holds = words.map((word) => holder(spans, word));
  for (let index = 0; index < spans.count; index += 1) {
    if (holds.every((containsWord) => containsWord(index))) found.push(index);
  }
  return Int32Array.from(found);
}

function holder(spans: TraceSpans, word: string): (index: number) => boolean {
  const isIn = (text: string) => text.toLowerCase().includes(word);
  const texts = Uint8Array.from(spans.texts, (text) => (isIn(text) ? 1 : 0));
  const kinds = spans.kindNames.map(isIn);
  const columns = [spans.names, spans.models, spans.providers, spans.customers, spans.errors, spans.spanIds];
  return (index) =>
    kinds[at(spans.kinds, index)] === true ||
    columns.some((column) => texts[at(column, index)] === 1) ||
    isIn(at(spans.ids, index));
}

export function failedSpans({ flags }: TraceSpans): Int32Array<ArrayBuffer> {
  const found: number[] = [];
  for (let index = 0; index < flags.length; index += 1) {
    if ((at(flags, index) & spanFlags.failed) !== 0) found.push(index);
  }
  return Int32Array.from(found);
}

/**
 * The spans with the longest own times, slowest first: calls and tools before spans with children, such as the root,
 * whose own time is merely unrecorded. Spans without own time are left out.
 */
export function slowestSpans(
  { ends }: Pick<TraceSpans, "ends">,
  selfTimes: Float64Array,
  most: number,
): Int32Array<ArrayBuffer> {
  const isWrapper = (index: number): number => (at(ends, index) > index + 1 ? 1 : 0);
  const order = Int32Array.from(selfTimes.keys()).sort(
    (a, b) => isWrapper(a) - isWrapper(b) || at(selfTimes, b) - at(selfTimes, a) || a - b,
  );
  return order.filter((index) => at(selfTimes, index) > 0).slice(0, most);
}

/** The next or previous entry of a sorted list relative to a span; wraps around at the end. */
export function stepInOrder(sorted: Int32Array, from: number, step: 1 | -1): number | undefined {
  if (sorted.length === 0) return undefined;
  const after = step === 1 ? sorted.findIndex((index) => index > from) : sorted.findLastIndex((index) => index < from);
  return sorted[after === -1 ? (step === 1 ? 0 : sorted.length - 1) : after];
}

/** The next or previous entry of an unsorted list; its first or last entry if `from` is not in it. */
export function stepInList(list: Int32Array, from: number, step: 1 | -1): number | undefined {
  const place = list.indexOf(from);
  if (place === -1) return list[step === 1 ? 0 : list.length - 1];
  return list[(place + step + list.length) % list.length];
}
