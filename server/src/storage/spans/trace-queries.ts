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
    /** Ties are broken by the trace id, in the same direction. */
    sort: { field: TraceSortField; descending: boolean };
  };

export type TraceRange = { first: string; last: string };

export type TraceWeight = {
  span_count: number;
  /** The size of input, output, messages and metadata. */
  payload_bytes: number;
};

/** Includes rows of older versions and of deleted spans: an upper bound. */
export type TracePlace = TraceWeight & {
  environment: string;
  /** The end times of its first and last span. */
  range: TraceRange;
  /**
   * Whether a row was received within the last `limits.movingTraceS` seconds: the trace may still move while it is
   * read.
   */
  is_recent: boolean;
};

export type ListTraceSpansQuery = {
  scope: SpanScope;
  traceId: string;
  /** The time range of the trace. */
  range: TraceRange;
  /** The columns to read: values come in this order, others may follow. */
  columns: readonly ReadColumn[];
  limit: number;
  offset?: number;
};

export type SmallTraceQuery = Pick<ListTraceSpansQuery, "scope" | "traceId" | "columns">;

/**
 * A whole trace. Texts are '' if absent. The root is the earliest span without a parent in the trace; `name` and
 * `organization_key_id` are the root's.
 */
export type StoredTrace = {
  trace_unique_id: string;
  environment: string;
  /** In the form of span times. `end_time` is the latest end. */
  start_time: string;
  end_time: string;
  name: string;
  organization_key_id: string;
  root_span_unique_id: string;
  root: SpanKey;
} & Record<TraceNumber, number> &
  Record<TraceText, string>;
