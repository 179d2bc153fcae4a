import type { ReactNode } from "react";
import { formatCost, formatCount, formatDuration, formatExactCost, formatInteger } from "../../../lib/format.ts";
import { knownCost, unknownCostText } from "../../../lib/known-cost.ts";
import { formatExactTime, formatMinute, formatTime, type TimeZone } from "../../../lib/time.ts";
import { visibleLine } from "../../../lib/visible-text.ts";
import { Unknown } from "../../../ui/value.tsx";
import { truncateLine, Untrusted } from "../parts/untrusted.tsx";
import { previewOf } from "./preview.ts";
import type { TraceRow } from "./queries.ts";
import type { TraceSort } from "./search.ts";
import type { UsedModel } from "./trace-models.ts";

export type TraceColumn = {
  title: string;
  sort?: TraceSort;
  isNumber?: boolean;
  /** CSS classes of the cells; some hide the column on narrow screens. */
  className?: string;
  show: (row: TraceRow, zone: TimeZone, models: readonly UsedModel[] | undefined) => ReactNode;
};

/** The columns of the list, in the order of `listGrid`. */
export const traceColumns: readonly TraceColumn[] = [
  {
    title: "Ended",
    sort: "timestamp",
    show: ({ timestamp }, zone) => (
      <time className="figures text-muted" title={formatExactTime(timestamp, zone)}>
        <span className="@max-lg:hidden">{formatTime(timestamp, zone)}</span>
        <span className="@lg:hidden">{formatMinute(timestamp, zone, Date.now())}</span>
      </time>
    ),
  },
  { title: "Trace", show: (row) => <Name row={row} /> },
  {
    title: "Customer",
    className: "@max-5xl:hidden",
    show: ({ customer_identifier: customer }) => customer && <Untrusted text={customer} className="text-muted" />,
  },
  {
    title: "Model",
    className: "@max-6xl:hidden",
    show: (row, _, models) => <Models row={row} models={models} />,
  },
  {
    title: "Spans",
    sort: "span_count",
    isNumber: true,
    className: "@max-3xl:hidden",
    show: ({ span_count: spans, llm_call_count: calls }) => (
      <span title={`${formatInteger(calls)} of them are model calls`}>{formatInteger(spans)}</span>
    ),
  },
  {
    title: "Errors",
    sort: "error_count",
    isNumber: true,
    show: ({ error_count: errors }) =>
      errors > 0 ? <span className="text-error">{formatInteger(errors)}</span> : <span className="text-faint">0</span>,
  },
  {
    title: "Tokens",
    sort: "total_tokens",
    isNumber: true,
    className: "@max-3xl:hidden",
    show: ({ total_tokens: tokens }) => <span title={formatInteger(tokens)}>{formatCount(tokens)}</span>,
  },
  { title: "Cost", sort: "total_cost", isNumber: true, show: (row) => <RowCost row={row} /> },
  {
    title: "Duration",
    sort: "duration",
    isNumber: true,
    className: "@max-lg:hidden",
    show: ({ duration }) => <span title={`${duration} s`}>{formatDuration(duration)}</span>,
  },
];

function Name({ row }: { row: TraceRow }): ReactNode {
  const name = row.name || row.trace_unique_id;
  const input = previewOf(row.input);
  return (
    <span className="flex min-w-0 gap-2" title={truncateLine(`${name}\n${input}`, 400)}>
      <Untrusted text={name} className="shrink-0 truncate font-medium @max-xl:max-w-full @xl:max-w-1/2" />
      <Untrusted text={input} className="min-w-0 truncate text-faint @max-xl:hidden" />
    </span>
  );
}

/** The model that cost most, and how many there are besides. The row itself only names that of the earliest call. */
function Models({ row, models }: { row: TraceRow; models: readonly UsedModel[] | undefined }): ReactNode {
  const [first, ...others] = models ?? [];
  const list = models?.map((used) => `${visibleLine(used.model)} ${formatCost(knownCost(used))}`);
  return (
    <span className="flex min-w-0 gap-1.5 text-muted" title={others.length === 0 ? undefined : list?.join("\n")}>
      <Untrusted text={first?.model ?? (typeof row.model === "string" ? row.model : "")} className="min-w-0 truncate" />
      {others.length > 0 && <span className="figures shrink-0">+{formatInteger(others.length)}</span>}
    </span>
  );
}

function RowCost({ row }: { row: TraceRow }): ReactNode {
  const { unpriced_count: unpriced } = row;
  const cost = knownCost(row);
  const why = unknownCostText(unpriced);
  if (cost === null) return <Unknown why={why} />;
  return (
    <span title={unpriced > 0 ? `At least ${formatExactCost(cost)}: ${why}` : formatExactCost(cost)}>
      {formatCost(cost)}
      {unpriced > 0 && <span className="text-warn">+</span>}
    </span>
  );
}
