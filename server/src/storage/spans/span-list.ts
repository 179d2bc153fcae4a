import type { ReadColumn } from "../../domain/span.ts";
import type { Page, SpanSelection, StoredSpan } from "./span-store.ts";

/** How spans are listed: in which order, and from where on. */

/**
 * Ties end in (timestamp, unique_id), in the same direction. Absent values come last in both. With `score`,
 * an evaluator's id or slug, its scores come first: numbers by value, everything else by text; so do values of a key with `metadata`.
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

/** The place of a span in an order: what it is sorted by, as text, null where absent, and what tells it apart. */
export type SpanPlace = { values: ReadonlyArray<string | null> } & Pick<
  StoredSpan,
  "timestamp" | "unique_id" | "environment"
>;

export type ListSpansQuery = SpanSelection &
  Page & {
    sort: SpanSort;
    /** Columns to read; those of the key are always there. */
    fields: readonly ReadColumn[];
    /** Begins behind this place of the window, whatever the number of the page: spans that came or went since move nothing. */
    after?: SpanPlace | undefined;
  };

/** `count` is exact and of all pages; `next` is the place of the last row where others follow it. */
export type SpanPage = { count: number; rows: StoredSpan[]; next?: SpanPlace | undefined };
