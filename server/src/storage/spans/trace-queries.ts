import type { ReadColumn, SpanScope } from "../../domain/span.ts";
import type { TraceNumber, TraceSortField, TraceText } from "../../domain/trace.ts";
import type { GroupCondition, Page, SpanKey, TimeWindow } from "./span-store.ts";
import type { SeesEdits } from "./span-editing.ts";

export type ListTracesQuery = {
  scope: SpanScope;
  window: TimeWindow;
  condition?: GroupCondition | undefined;
} & SeesEdits &
  Page & {
    /** Ties end in the trace id, in the same direction. */
    sort: { field: TraceSortField; descending: boolean };
  };

export type TraceStretch = { first: string; last: string };

export type TraceWeight = {
  span_count: number;
  /** Of input, output, messages and metadata. */
  payload_bytes: number;
};

/** Rows of older versions and of deleted spans are among these: as much as there may be, not as there is. */
export type TracePlace = TraceWeight & {
  environment: string;
  /** The ends of its first and last span. */
  stretch: TraceStretch;
  /** Whether something came in within `limits.movingTraceS`: what was placed may move while it is read. */
  is_recent: boolean;
};

export type ListTraceSpansQuery = {
  scope: SpanScope;
  traceId: string;
  /** Where to look: the trace's own. */
  stretch: TraceStretch;
  /** What the spans are read with: their values come in this order, others may follow. */
  columns: readonly ReadColumn[];
  limit: number;
  offset?: number;
};

export type SmallTraceQuery = Pick<ListTraceSpansQuery, "scope" | "traceId" | "columns">;

/**
 * A trace as a whole. Texts are '' where absent. The root is the earliest span without a parent in the trace; `name`
 * and `organization_key_id` are the root's.
 */
export type StoredTrace = {
  trace_unique_id: string;
  environment: string;
  /** As times of spans. `end_time` is the latest end. */
  start_time: string;
  end_time: string;
  name: string;
  organization_key_id: string;
  root_span_unique_id: string;
  root: SpanKey;
} & Record<TraceNumber, number> &
  Record<TraceText, string>;
