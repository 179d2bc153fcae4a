import type { ReactNode } from "react";
import { formatInteger } from "../../lib/format.ts";
import { fromFilters } from "../../query-bar/from-filters.ts";
import { printQuery } from "../../query-bar/print-query.ts";
import { Panel } from "../../ui/panel.tsx";
import { Time } from "../../ui/value.tsx";
import { conditionOf } from "./alert-words.ts";
import type { Alert } from "./queries.ts";

/** The metric and filters of an alert, and its trigger condition. */
export function RulePanel({ alert }: { alert: Alert }): ReactNode {
  const query = fromFilters(alert.filters);
  const spans = query === undefined ? JSON.stringify(alert.filters) : printQuery(query);
  return (
    <Panel title="Rule">
      <dl className="py-1">
        <Line label="Triggers when">{conditionOf(alert)}</Line>
        <Line label="Spans">
          {spans === "" ? <span className="text-faint">all</span> : <code className="text-sm break-all">{spans}</code>}
        </Line>
        <Line label="Groups">{alert.group_by ?? <span className="text-faint">none</span>}</Line>
        <Line label="At least">
          {alert.min_requests === 0 ? (
            <span className="text-faint">any number of requests</span>
          ) : (
            `${formatInteger(alert.min_requests)} requests`
          )}
        </Line>
        <Line label="Cooldown">{alert.cooldown}</Line>
        <Line label="Evaluated until">
          {alert.evaluated_until === null ? (
            <span className="text-faint">not yet</span>
          ) : (
            <Time at={alert.evaluated_until} />
          )}
        </Line>
      </dl>
    </Panel>
  );
}

function Line({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <div className="flex min-h-row items-center gap-3 px-3">
      <dt className="w-28 shrink-0 text-muted">{label}</dt>
      <dd className="min-w-0 flex-1 break-words">{children}</dd>
    </div>
  );
}
