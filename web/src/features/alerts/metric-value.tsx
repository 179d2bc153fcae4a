import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Dot } from "../../ui/badge.tsx";
import { Unknown } from "../../ui/value.tsx";
import { exactMetric, formatChange, formatMetric, stateStyles } from "./alert-words.ts";
import type { Alert } from "./queries.ts";
import { logsLinkOf } from "./spans-link.ts";

export function MetricValue({ metric, value }: { metric: string; value: number | null }): ReactNode {
  if (value === null) return <Unknown why="No span in the window has a value." />;
  return (
    <span className="figures" title={exactMetric(metric, value)}>
      {formatMetric(metric, value)}
    </span>
  );
}

type Compared = { metric: string; change_percentage: number | null };

/** The value compared with the threshold: the metric itself, or its change from the previous window. */
export function ComparedValue({
  alert,
  value,
  before,
}: {
  alert: Compared;
  value: number | null;
  before: number | null;
}): ReactNode {
  const { metric, change_percentage: bound } = alert;
  if (bound === null) return <MetricValue metric={metric} value={value} />;
  const change = formatChange(value, before);
  if (change === undefined) return <Unknown why={whyNoChange(value, before)} />;
  return (
    <span
      className="figures"
      title={`${formatMetric(metric, value)} after ${formatMetric(metric, before)} in the window before`}
    >
      {change}
    </span>
  );
}

function whyNoChange(value: number | null, before: number | null): string {
  if (value === null || before === null) return "One of the two windows has no value.";
  return "The previous window has 0, so there is no percentage.";
}

export function StateMark({ state }: { state: Alert["state"] }): ReactNode {
  const { label, tone } = stateStyles[state];
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      <Dot tone={tone} />
      {label}
    </span>
  );
}

/** A link to the spans behind a value. */
export function SpansLink({ url }: { url: string | null }): ReactNode {
  const link = url === null ? undefined : logsLinkOf(url);
  if (url === null) return <Unknown why="No window was evaluated." />;
  if (link === undefined) return <Unknown why="A query in Logs cannot express its filters." />;
  return (
    <Link to="/logs" search={link} className="text-accent hover:underline">
      Spans
    </Link>
  );
}
