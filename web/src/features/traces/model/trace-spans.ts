/**
 * The spans of a trace as columns in tree order: each span directly before its descendants, siblings by start. An index
 * refers to the same span in every column. Columns pass between threads without a copy, and take a tenth of the memory
 * of objects.
 */
export type TraceSpans = {
  count: number;
  /** `unique_id`. */
  ids: string[];
  /** Index of the parent, or -1 at the top. */
  parents: Int32Array<ArrayBuffer>;
  /** Index after the last descendant: the subtree of `i` is `[i, ends[i])`. */
  ends: Int32Array<ArrayBuffer>;
  depths: Int32Array<ArrayBuffer>;
  /** Milliseconds since the epoch, with fractions. `finishes` is never before `starts`. */
  starts: Float64Array<ArrayBuffer>;
  finishes: Float64Array<ArrayBuffer>;
  /** Milliseconds; NaN where unknown. */
  durations: Float64Array<ArrayBuffer>;
  firstTokens: Float64Array<ArrayBuffer>;
  /** The span's own cost, and its counted cost in the trace. USD; NaN if unknown. */
  costs: Float64Array<ArrayBuffer>;
  countedCosts: Float64Array<ArrayBuffer>;
  tokens: Float64Array<ArrayBuffer>;
  countedTokens: Float64Array<ArrayBuffer>;
  promptTokens: Float64Array<ArrayBuffer>;
  completionTokens: Float64Array<ArrayBuffer>;
  /** Bits of `spanFlags`. */
  flags: Uint8Array<ArrayBuffer>;
  statusCodes: Int32Array<ArrayBuffer>;
  /** Indexes into `kindNames`. */
  kinds: Uint32Array<ArrayBuffer>;
  kindNames: string[];
  /** Indexes into `texts`, whose first entry is ''. */
  names: Uint32Array<ArrayBuffer>;
  models: Uint32Array<ArrayBuffer>;
  providers: Uint32Array<ArrayBuffer>;
  customers: Uint32Array<ArrayBuffer>;
  errors: Uint32Array<ArrayBuffer>;
  spanIds: Uint32Array<ArrayBuffer>;
  texts: string[];
  /** The parent id of spans at the top level that name a parent. */
  namedParents: Map<number, string>;
};

export const spanFlags = {
  failed: 1,
  /** A model call whose cost is unknown. */
  unpriced: 2,
  /** Names a parent that is not in the trace. */
  orphan: 4,
  /** At the top level because its parents form a cycle. */
  brokenCycle: 8,
  /** The end that was sent is before the start. */
  reversed: 16,
} as const;

export function hasFlag(spans: TraceSpans, index: number, flag: keyof typeof spanFlags): boolean {
  return ((spans.flags[index] ?? 0) & spanFlags[flag]) !== 0;
}

export function textOf(spans: TraceSpans, column: Uint32Array, index: number): string {
  return spans.texts[column[index] ?? 0] ?? "";
}

export function kindOf(spans: TraceSpans, index: number): string {
  return spans.kindNames[spans.kinds[index] ?? 0] ?? "";
}

/** The display name of a span: its name, otherwise its model or kind. */
export function labelOf(spans: TraceSpans, index: number): string {
  return textOf(spans, spans.names, index) || textOf(spans, spans.models, index) || kindOf(spans, index) || "span";
}

/** The buffers to transfer between threads instead of copying. */
export function buffersOf(spans: TraceSpans): ArrayBuffer[] {
  return Object.values(spans).flatMap((column) => (ArrayBuffer.isView(column) ? [column.buffer] : []));
}
