import type { SpanDatabase } from "../drivers/span-database.ts";
import type { ExportTracesQuery, WriteBytes } from "../span-export.ts";
import { countedSpans, paramsOfParts, type CountedPart, type Counts } from "./counted-spans.ts";
import { exportRows } from "./export-columns.ts";
import { exportedSpan } from "./exported-span.ts";
import { exportedTrace, root, rootColumns, tracePayload } from "./exported-trace.ts";
import { conditionParams, groupMatches } from "./group-condition.ts";
import { selectFigures } from "./figures.ts";
import { traceSpans } from "./list-traces.ts";
import { streamOnce, type Once } from "./once.ts";
import { inWindow } from "./selection.ts";
import { hasParentHere, rootOf, traceFigures } from "./trace-figures.ts";

/**
 * Exports in one statement, so all traces are as of one moment. The figures of all traces are in memory; the payload of
 * their roots is streamed.
 */
export async function exportTraces(
  database: SpanDatabase,
  query: ExportTracesQuery,
  take: WriteBytes,
  signal: AbortSignal,
): Promise<void> {
  const parts = await traceSpans(database, query, signal);
  const within = inWindow(query.window);
  const hasPayload = tracePayload.some((name) => query.fields.includes(name));
  const params = {
    ...paramsOfParts(parts),
    ...conditionParams(query.condition),
    ...within.params,
    organization_id: query.scope.organization_id,
    organization_name: query.organizationName,
  };
  const shape = { format: query.format, columns: exportedTrace, names: query.fields };
  const stream = (once: Once, counts: Counts, writeBytes: WriteBytes): Promise<void> => {
    const figures = figuresOf(query, parts, { once, counts });
    const from = hasPayload ? withPayload(figures, parts, once) : figures;
    return exportRows(database, { name: "export_traces", from, params }, shape, writeBytes, signal);
  };
  await streamOnce(database, { parts, counts: "usage" }, stream, take, signal);
}

function figuresOf(
  { window, condition }: ExportTracesQuery,
  parts: readonly CountedPart[],
  { once, counts }: { once: Once; counts: Counts },
): string {
  const select = [...selectFigures(traceFigures), rootOf(rootColumns, true), ...groupMatches(condition)];
  // The time range is wider than the window, so a trace may have no span in the window.
  const traces = `SELECT trace_unique_id, environment, ${select.join(", ")}
    FROM ${hasParentHere(countedSpans(parts, once, counts), countedSpans(parts, once, "none"))}
    GROUP BY trace_unique_id, environment HAVING countIf(${inWindow(window).sql}) > 0 AND (${condition?.having.sql ?? "1"})`;
  return `(SELECT *, ${root("unique_id")} AS root_id, ${root("timestamp")} AS root_time FROM (${traces})) AS traces`;
}

function withPayload(figures: string, parts: readonly CountedPart[], once: Once): string {
  const columns = tracePayload.map((name) => `${exportedSpan[name]?.sql ?? "''"} AS payload_${name}`);
  const spans = countedSpans(parts, once, "none");
  return `(SELECT unique_id AS payload_id, timestamp AS payload_time, environment AS payload_environment, ${columns.join(", ")} FROM ${spans}) AS payload
    GLOBAL ANY INNER JOIN ${figures} ON payload_id = root_id AND payload_time = root_time AND payload_environment = environment`;
}
