import type { ReadColumn } from "../../domain/span.ts";
import type { TreeSpan } from "../../domain/span-tree.ts";
import { columnOf, type TraceSums } from "../../domain/trace-figures.ts";
import { traceTexts, type TraceText } from "../../domain/trace.ts";
import { parseTimeNs } from "../../lib/time.ts";
import type { StoredSpan } from "./span-store.ts";
import type { StoredTrace } from "./trace-queries.ts";

/** The columns that `domain/trace-figures.ts` needs. */
export const figureFields = [
  "unique_id",
  "timestamp",
  "start_time",
  "span_unique_id",
  "span_parent_id",
  "log_type",
  "status",
  "status_code",
  "counted_cost",
  "counted_tokens",
  "total_tokens",
  "prompt_tokens",
  "completion_tokens",
  ...traceTexts.map(columnOf),
] as const satisfies readonly ReadColumn[];

export function treeSpan({ unique_id, span_unique_id, span_parent_id, start_time, timestamp }: StoredSpan): TreeSpan {
  return {
    unique_id,
    span_unique_id: span_unique_id ?? "",
    span_parent_id: span_parent_id ?? "",
    start_time: start_time ?? "",
    timestamp,
  };
}

/**
 * Returns a trace as lists show it, from the sums of its spans. `root` is undefined if it was deleted in the meantime.
 */
export function summedTrace(
  { trace_unique_id, environment }: Pick<StoredTrace, "trace_unique_id" | "environment">,
  sums: TraceSums,
  root: StoredSpan | undefined,
): StoredTrace {
  const { root: at, texts, ...shown } = sums;
  const stated = traceTexts.map((name) => [name, root?.[columnOf(name)] || texts[name]] as const);
  return {
    ...shown,
    ...(Object.fromEntries(stated) as Record<TraceText, string>),
    trace_unique_id,
    environment,
    duration: secondsBetween(shown),
    name: root?.span_name ?? "",
    organization_key_id: root?.organization_key_id ?? "",
    root_span_unique_id: at.span_unique_id,
    root: { ...rootKey(environment, sums), version: root?.version ?? "" },
  };
}

/** The key of the root, which was just read; the version does not matter. */
export function rootKey(environment: string, { root }: TraceSums) {
  return { timestamp: root.timestamp, unique_id: root.unique_id, environment, version: "" };
}

/** Clocks disagree: a duration is never negative. */
function secondsBetween({ start_time, end_time }: Pick<TraceSums, "start_time" | "end_time">): number {
  const ns = (parseTimeNs(end_time) ?? 0n) - (parseTimeNs(start_time) ?? 0n);
  return Math.max(0, Number(ns) / 1e9);
}
