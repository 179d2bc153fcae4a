import type { ReadColumn, SpanColumn } from "../../../domain/span.ts";
import type { TreeSpan } from "../../../domain/span-tree.ts";
import { createTraceFigures, type TraceFigures } from "../../../domain/trace-figures.ts";
import { traceNumbers, traceTexts } from "../../../domain/trace.ts";
import { storageLimits } from "../../limits.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import type { StoredSpan } from "../span-store.ts";
import { figureFields, summedTrace, treeSpan } from "../summed-trace.ts";
import type { StoredTrace } from "../trace-queries.ts";
import { figureAlias, figuresOf, selectFigures } from "./figures.ts";
import { countedSpans, paramsOfParts, type CountedPart, type Counts } from "./counted-spans.ts";
import { rootColumns as exportedRootColumns } from "./exported-trace.ts";
import { newestSpans } from "./hydrate-spans.ts";
import { readOnce, type Once } from "./once.ts";
import type { Where } from "./selection.ts";
import { hasParentHere, rootOf, traceFigures } from "./trace-figures.ts";

export type TraceKey = { trace_unique_id: string; environment: string };

/** A trace of a page has at least `spans` spans, which ended between `first` and `last`. */
export type PageKey = TraceKey & { first: string; last: string; spans: string };
export type TracePage = { count: number; keys: PageKey[] };

const rootColumns = [...exportedRootColumns, "version"] as const satisfies readonly SpanColumn[];

const { timestamp: _end, name: _name, ...shownFigures } = traceFigures;
const select = selectFigures(shownFigures);

/** Describes the traces that the spans of `parts` make, by their key. */
export async function describeTraces(
  database: SpanDatabase,
  parts: readonly CountedPart[],
  signal?: AbortSignal,
): Promise<Map<string, StoredTrace>> {
  const describe = async (spans: string, knowsParents: boolean) => {
    const { rows } = await database.query(
      {
        name: "describe_traces",
        sql: `SELECT trace_unique_id, environment, ${[...select, rootOf(rootColumns, knowsParents)].join(", ")},
          countIf(span_parent_id = '') > 0 AS has_top FROM ${spans} GROUP BY trace_unique_id, environment`,
        params: paramsOfParts(parts),
        // The engine's default starts threads for joins of many rows.
        settings: { output_format_json_named_tuples_as_objects: 0, join_algorithm: "hash" },
      },
      signal,
    );
    return rows;
  };
  const read = async (once: Once, counts: Counts) => {
    const spans = countedSpans(parts, once, counts);
    const rows = await describe(spans, false);
    // Which parents exist only matters for the root if every span names a parent. That query takes long to plan.
    if (rows.every((row) => Number(row["has_top"]) === 1)) return rows;
    return await describe(hasParentHere(spans, countedSpans(parts, once, "none")), true);
  };
  const rows = await readOnce(database, { parts, counts: "usage" }, read, signal);
  return new Map(rows.map(storedTrace).map((trace) => [traceKeyText(trace), trace]));
}

/**
 * The same for few spans: reading and summing them here takes less time than the engine needs to plan sums. Undefined if
 * there are more than a few.
 */
export async function sumTraces(
  database: SpanDatabase,
  where: Where,
  signal?: AbortSignal,
): Promise<Map<string, StoredTrace> | undefined> {
  const read = { name: "describe_traces", where, fields: summedFields, most: storageLimits.summedListSpans };
  const { newest, isAll } = await newestSpans(database, read, signal);
  if (!isAll) return undefined;
  const traces = new Map<string, { key: TraceKey; figures: TraceFigures; spans: Map<TreeSpan, StoredSpan> }>();
  for (const span of newest.values()) {
    const key = { trace_unique_id: span.trace_unique_id ?? "", environment: span.environment };
    const trace = traces.get(traceKeyText(key)) ?? { key, figures: createTraceFigures(), spans: new Map() };
    traces.set(traceKeyText(key), trace);
    const place = treeSpan(span);
    trace.figures.add(place, span);
    trace.spans.set(place, span);
  }
  const found = new Map<string, StoredTrace>();
  for (const [text, { key, figures, spans: own }] of traces) {
    const sums = figures.finish();
    if (sums !== undefined) found.set(text, summedTrace(key, sums, own.get(sums.root)));
  }
  return found;
}

const summedFields = [
  ...figureFields,
  "trace_unique_id",
  "span_name",
  "organization_key_id",
] as const satisfies readonly ReadColumn[];

export function traceKeyText({ trace_unique_id: id, environment }: TraceKey): string {
  return `${environment} ${id}`;
}

function storedTrace(row: ResultRow): StoredTrace {
  const text = (name: string) => {
    const value = row[name];
    return typeof value === "string" ? value : "";
  };
  const values = row["root"] as string[];
  const root = (column: (typeof rootColumns)[number]) => values[rootColumns.indexOf(column)] ?? "";
  const texts = Object.fromEntries(
    traceTexts.map((name) => [
      name,
      root(name === "workflow_name" ? "span_workflow_name" : name) || text(figureAlias(name)),
    ]),
  ) as Pick<StoredTrace, (typeof traceTexts)[number]>;
  const environment = text("environment");
  return {
    trace_unique_id: text("trace_unique_id"),
    environment,
    start_time: text(figureAlias("start_time")),
    end_time: text(figureAlias("end_time")),
    ...figuresOf(row, traceNumbers),
    ...texts,
    name: root("span_name"),
    organization_key_id: root("organization_key_id"),
    root_span_unique_id: root("span_unique_id"),
    root: { unique_id: root("unique_id"), timestamp: root("timestamp"), environment, version: root("version") },
  };
}
