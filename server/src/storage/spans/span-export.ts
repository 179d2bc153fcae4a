import type { Customer } from "../../domain/customer.ts";
import type { SpanSelection } from "./span-store.ts";
import type { ListTracesQuery } from "./trace-queries.ts";

export const exportFormats = ["jsonl", "csv", "parquet"] as const;
export type ExportFormat = (typeof exportFormats)[number];

/**
 * Takes one chunk of a file; nobody else reads it afterwards. The next chunk is made after it has resolved, and none
 * after it has thrown.
 */
export type WriteBytes = (bytes: Uint8Array) => Promise<void>;

/** `fields` are names of `exportedSpan`. */
export type ExportSpansQuery = SpanSelection & { format: ExportFormat; fields: readonly string[] };

/** `fields` are names of `exportedTrace`. */
export type ExportTracesQuery = Pick<ListTracesQuery, "scope" | "window" | "condition" | "edits"> & {
  format: ExportFormat;
  fields: readonly string[];
  organizationName: string;
};

export const usagePeriods = ["day", "week", "month"] as const;
export type UsagePeriod = (typeof usagePeriods)[number];

/** `fields` are names of `exportedUsage`; customers without an entry in `markups` have none. */
export type ExportUsageQuery = SpanSelection & {
  format: ExportFormat;
  fields: readonly string[];
  period: UsagePeriod;
  markups: ReadonlyArray<Pick<Customer, "environment" | "customer_identifier" | "markup_percentage">>;
};

export type SpanExports = {
  /**
   * Writes the selected spans to `take` as a file, in no order and as of one moment. May also fail after a part of the
   * file was taken.
   */
  exportSpans(query: ExportSpansQuery, take: WriteBytes, signal: AbortSignal): Promise<void>;

  /** The same for the traces that `listTraces` lists. */
  exportTraces(query: ExportTracesQuery, take: WriteBytes, signal: AbortSignal): Promise<void>;

  /**
   * The usage of customers by period and model, the highest cost first. Spans that count for no customer are left out.
   */
  exportUsage(query: ExportUsageQuery, take: WriteBytes, signal: AbortSignal): Promise<void>;
};
