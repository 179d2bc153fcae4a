import type { ReadColumn } from "../../domain/span.ts";
import type { Page, SpanSelection, StoredSpan } from "./span-store.ts";

/**
 * Ties are broken by (timestamp, unique_id), in the same direction. Absent values come last in both directions. With
 * `score` (an evaluator's id or slug), spans are sorted by its scores first: numbers by value, everything else by text.
 * The same holds for the values of a key with `metadata`.
 */
export type SpanSort = { field: SpanSortField; descending: boolean; score?: string; metadata?: string };

export const spanSortFields = [
  "timestamp",
  "id",
  "unique_id",
  "start_time",
  "cost",
  "latency",
  "time_to_first_token",
  "tokens_per_second",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "all_tokens",
  "total_request_tokens",
  "error_count",
  "status_code",
  "model",
  "customer_identifier",
  "note",
  "is_pinned",
  "positive_feedback",
] as const;
export type SpanSortField = (typeof spanSortFields)[number];

/** The position of a span in an order: the values it is sorted by, as text (null = absent), and its key. */
export type SpanPlace = { values: ReadonlyArray<string | null> } & Pick<
  StoredSpan,
  "timestamp" | "unique_id" | "environment"
>;

export type ListSpansQuery = SpanSelection &
  Page & {
    sort: SpanSort;
    /** Columns to read; the columns of the key are always included. */
    fields: readonly ReadColumn[];
    /** Starts after this position, regardless of `page`: spans that came or went in the meantime shift nothing. */
    after?: SpanPlace | undefined;
  };

/** `count` is exact and covers all pages; `next` is the position of the last row if more rows follow. */
export type SpanPage = { count: number; rows: StoredSpan[]; next?: SpanPlace | undefined };
