import type { ReactNode } from "react";
import { formatBytes, formatDuration, formatInteger, unknown } from "../../lib/format.ts";
import { readMetrics } from "../../lib/read-metrics.ts";
import { Badge, Dot } from "../../ui/badge.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Unknown } from "../../ui/value.tsx";
import { useMetrics, useReadiness, useVersion } from "./queries.ts";

const parts: Readonly<Record<string, string>> = {
  node: "Node",
  control: "Store of settings and people",
  clock: "Clock",
  journal: "Journal",
  calls: "Records of calls",
  spans: "Store of spans",
  replay: "Journal of the last start",
  writer: "Writer",
};

/** The state of the server that responded; behind a load balancer another may respond next. */
export function InstancePanel(): ReactNode {
  const readiness = useReadiness();
  const version = useVersion().data;
  return (
    <div className="flex flex-col gap-3">
      <Panel
        title="Health"
        actions={version !== undefined && <span className="text-sm text-faint">Version {version}</span>}
      >
        {readiness.error !== null && <ErrorPanel error={readiness.error} onRetry={() => void readiness.refetch()} />}
        {readiness.isPending && <SkeletonRows rows={4} />}
        <ul className="divide-y divide-line">
          {Object.entries(readiness.data?.checks ?? {}).map(([part, state]) => (
            <li key={part} className="flex h-row items-center gap-2 px-3">
              <Dot tone={state === "ok" ? "ok" : "error"} />
              <span className="flex-1">{parts[part] ?? part}</span>
              <Badge tone={state === "ok" ? "ok" : "error"}>{state}</Badge>
            </li>
          ))}
        </ul>
      </Panel>
      <Figures />
    </div>
  );
}

type Figure = { label: string; name: string; format: (value: number) => string; isBad?: (value: number) => boolean };

const isAny = (value: number): boolean => value > 0;

const figures: readonly Figure[] = [
  { label: "Requests in the journal, not stored yet", name: "spanway_journal_entries", format: formatInteger },
  { label: "Their bytes", name: "spanway_journal_bytes", format: formatBytes },
  {
    label: "Requests refused because the journal is full",
    name: "spanway_journal_refusals_total",
    format: formatInteger,
    isBad: isAny,
  },
  { label: "Quarantined entries", name: "spanway_journal_quarantined", format: formatInteger, isBad: isAny },
  { label: "Rows stored since the start", name: "spanway_writer_rows_total", format: formatInteger },
  {
    label: "Inserts that failed and were repeated",
    name: "spanway_writer_failures_total",
    format: formatInteger,
    isBad: isAny,
  },
  { label: "Spans of calls that wait for the journal", name: "spanway_gateway_records_waiting", format: formatInteger },
  {
    label: "Spans of calls that were lost",
    name: "spanway_gateway_records_lost_total",
    format: formatInteger,
    isBad: isAny,
  },
  { label: "Memory of the process", name: "process_resident_memory_bytes", format: formatBytes },
  {
    label: "Runs for",
    name: "process_start_time_seconds",
    format: (startS) => formatDuration(Math.max(0, Date.now() / 1000 - startS)),
  },
];

function Figures(): ReactNode {
  const metrics = useMetrics();
  const values = metrics.data === undefined ? undefined : readMetrics(metrics.data);
  return (
    <Panel
      title="Figures of the process"
      actions={
        <a href="/metrics" className="text-sm text-accent hover:underline">
          All metrics
        </a>
      }
    >
      {metrics.error !== null && <ErrorPanel error={metrics.error} onRetry={() => void metrics.refetch()} />}
      {metrics.isPending && <SkeletonRows rows={6} />}
      <ul className="divide-y divide-line">
        {values !== undefined &&
          figures.map(({ label, name, format, isBad }) => {
            const value = values.get(name);
            const text = value === undefined ? unknown : format(value);
            return (
              <li key={name} title={name} className="flex h-row items-center gap-2 px-3">
                <span className="flex-1 truncate">{label}</span>
                {value === undefined && <Unknown why="The server does not measure it." />}
                {value !== undefined && (
                  <span className={isBad?.(value) === true ? "figures text-error" : "figures"}>{text}</span>
                )}
              </li>
            );
          })}
      </ul>
    </Panel>
  );
}
