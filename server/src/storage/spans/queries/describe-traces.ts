import type { SpanColumn } from "../../../domain/span.ts";
import { traceNumbers, traceTexts } from "../../../domain/trace.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import type { StoredTrace } from "../trace-queries.ts";
import { figureAlias, figuresOf, selectFigures } from "./figures.ts";
import { countedSpans, paramsOfParts, type CountedPart, type Counts } from "./counted-spans.ts";
import { readOnce, type Once } from "./once.ts";
import { hasParentHere, rootOf, traceFigures } from "./trace-figures.ts";

export type TraceKey = { trace_unique_id: string; environment: string };

const rootColumns = [
  "unique_id",
  "timestamp",
  "version",
  "span_unique_id",
  "span_name",
  "organization_key_id",
  "customer_identifier",
  "thread_identifier",
  "session_identifier",
  "trace_group_identifier",
  "span_workflow_name",
  "model",
] as const satisfies readonly SpanColumn[];

const { timestamp: _end, name: _name, ...shownFigures } = traceFigures;
const select = selectFigures(shownFigures);

/** What there is to say of the traces that the spans of `parts` make, by their key. */
export async function describeTraces(
  database: SpanDatabase,
  parts: readonly CountedPart[],
  signal?: AbortSignal,
): Promise<Map<string, StoredTrace>> {
  const read = async (once: Once, counts: Counts) =>
    await database.query(
      {
        name: "describe_traces",
        sql: `SELECT trace_unique_id, environment, ${[...select, rootOf(rootColumns)].join(", ")}
        FROM ${hasParentHere(countedSpans(parts, once, counts), countedSpans(parts, once, "none"))}
        GROUP BY trace_unique_id, environment`,
        params: paramsOfParts(parts),
        settings: { output_format_json_named_tuples_as_objects: 0 },
      },
      signal,
    );
  const { rows } = await readOnce(database, { parts, counts: "usage" }, read, signal);
  return new Map(rows.map(storedTrace).map((trace) => [traceKeyText(trace), trace]));
}

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
  const said = Object.fromEntries(
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
    ...said,
    name: root("span_name"),
    organization_key_id: root("organization_key_id"),
    root_span_unique_id: root("span_unique_id"),
    root: { unique_id: root("unique_id"), timestamp: root("timestamp"), environment, version: root("version") },
  };
}
