import { traceNumbers, traceTexts, type TraceText } from "../../../domain/trace.ts";
import type { ExportColumn, ExportColumns } from "./export-columns.ts";
import { exportedSpan } from "./exported-span.ts";
import { figureAlias } from "./figures.ts";

/** The columns of the root that are read with the figures of a trace; `root_time` and `root_id` find its payload. */
export const rootColumns = [
  "unique_id",
  "timestamp",
  "span_unique_id",
  "span_name",
  "organization_key_id",
  "customer_identifier",
  "thread_identifier",
  "session_identifier",
  "trace_group_identifier",
  "span_workflow_name",
  "model",
] as const;

export const root = (column: (typeof rootColumns)[number]): string =>
  `tupleElement(root, ${rootColumns.indexOf(column) + 1})`;

/** Long columns, which are only joined to the figures on request. */
export const tracePayload = ["input", "output", "metadata"] as const;

const text = (sql: string): ExportColumn => ({ kind: "text", sql });
const time = (name: string): ExportColumn => ({ kind: "time", sql: figureAlias(name) });

/** The value of the root, else of the first span that has one. */
const statedColumn = (name: TraceText): ExportColumn => {
  const own = root(name === "workflow_name" ? "span_workflow_name" : name);
  return text(`if(${own} != '', toString(${own}), ${figureAlias(name)})`);
};

const { model, ...firstStated } = Object.fromEntries(traceTexts.map((name) => [name, statedColumn(name)])) as Record<
  TraceText,
  ExportColumn
>;

const numbers = Object.fromEntries(
  traceNumbers.map((name) => {
    const kind = name === "total_cost" ? "money" : name === "duration" ? "number" : "integer";
    return [name, { kind, sql: figureAlias(name) } satisfies ExportColumn];
  }),
);

const payload = Object.fromEntries(
  tracePayload.map((name) => [name, { ...exportedSpan[name], sql: `payload_${name}` } as ExportColumn]),
);

/** The members of a trace in exports, by name: the same as in lists (api/traces/present-trace.ts). */
export const exportedTrace: ExportColumns = {
  id: text("trace_unique_id"),
  trace_unique_id: text("trace_unique_id"),
  root_span_unique_id: text(root("span_unique_id")),
  unique_organization_id: text("{organization_id:String}"),
  organization_id: text("{organization_id:String}"),
  organization_name: text("{organization_name:String}"),
  organization_key_id: text(root("organization_key_id")),
  environment: text("toString(environment)"),
  name: text(root("span_name")),
  ...firstStated,
  span_workflow_name: firstStated.workflow_name,
  model,
  timestamp: time("end_time"),
  start_time: time("start_time"),
  end_time: time("end_time"),
  ...numbers,
  ...payload,
  storage_object_key: text("''"),
};
