import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Badge } from "../../ui/badge.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useAutomations, type Automation } from "./automation-queries.ts";

/** The automations that a change would affect, and that prevent deletion. */
export function UsesPanel({ isUser }: { isUser: (automation: Automation) => boolean }): ReactNode {
  const automations = useAutomations();
  const uses = automations.data?.filter(isUser);
  return (
    <Panel title="Used by">
      <div className="flex flex-col gap-1 px-3 py-2">
        {automations.error !== null && (
          <ErrorPanel error={automations.error} onRetry={() => void automations.refetch()} />
        )}
        {uses !== undefined && <AutomationLinks uses={uses} />}
        {uses !== undefined && uses.length > 0 && (
          <p className="text-xs text-faint">A change applies to new logs only.</p>
        )}
      </div>
    </Panel>
  );
}

type Use = Pick<Automation, "id" | "name" | "environment" | "is_enabled">;

/** Links to the automations that use something, marked if they belong to the test environment. */
export function AutomationLinks({ uses }: { uses: readonly Use[] }): ReactNode {
  if (uses.length === 0) return <span className="text-faint">nothing</span>;
  return (
    <ul className="flex min-w-0 flex-wrap gap-x-3">
      {uses.map(({ id, name, environment, is_enabled: isEnabled }) => (
        <li key={id} className="inline-flex max-w-full min-w-0 items-center gap-1.5">
          <Link
            to="/evaluation"
            search={{ env: environment === "test" ? "test" : undefined, tab: "automations", automation: id }}
            className="truncate text-accent hover:underline"
            title={visibleLine(name)}
          >
            {visibleLine(name)}
          </Link>
          {environment === "test" && <Badge tone="info">test</Badge>}
          {!isEnabled && <Badge>off</Badge>}
        </li>
      ))}
    </ul>
  );
}
