/**
 * The spans of a trace in columns, in the order of the tree: each span directly before its descendants, siblings by start. One
 * index means the same span in every column. Columns pass between threads without a copy, and take a tenth of what objects take.
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
  /** What the span itself says, and what it counts for in the trace. USD; NaN where unknown. */
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
  /** Indexes into `texts`, whose first is ''. */
  names: Uint32Array<ArrayBuffer>;
  models: Uint32Array<ArrayBuffer>;
  providers: Uint32Array<ArrayBuffer>;
  customers: Uint32Array<ArrayBuffer>;
  errors: Uint32Array<ArrayBuffer>;
  spanIds: Uint32Array<ArrayBuffer>;
  texts: string[];
  /** Of spans at the top that name a parent: its id. */
  namedParents: Map<number, string>;
};

export const spanFlags = {
  failed: 1,
  /** A model call whose cost is unknown. */
  unpriced: 2,
  /** Names a parent that the trace does not have. */
  orphan: 4,
  /** Stands at the top since its parents form a cycle. */
  cycleCut: 8,
  /** The end that was sent lies before the start. */
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

/** The name of a span, else what it is. */
export function labelOf(spans: TraceSpans, index: number): string {
  return textOf(spans, spans.names, index) || textOf(spans, spans.models, index) || kindOf(spans, index) || "span";
}

/** What a transfer between threads hands over instead of copying. */
export function buffersOf(spans: TraceSpans): ArrayBuffer[] {
  return Object.values(spans).flatMap((column) => (ArrayBuffer.isView(column) ? [column.buffer] : []));
}
