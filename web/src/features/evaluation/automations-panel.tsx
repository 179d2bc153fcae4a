import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import { useEnvironment } from "../../api/use-api.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { percentText } from "./automation-draft.ts";
import { useAutomations, type Automation } from "./automation-queries.ts";
import { ToggleAutomation } from "./toggle-automation.tsx";

/** The automations of the environment of the URL. */
export function AutomationsPanel(): ReactNode {
  const navigate = useNavigate();
  const environment = useEnvironment();
  const automations = useAutomations();
  const canWrite = useCan("automations:write");
  const rows = automations.data?.filter((automation) => automation.environment === environment);
  const add = (
    <Button
      size="sm"
      icon="plus"
      onClick={() => void navigate({ to: "/evaluation", search: { tab: "automations", automation: "new" } })}
    >
      New automation
    </Button>
  );
  return (
    <Panel title="Automations" actions={canWrite && rows?.length !== 0 && add}>
      {automations.error !== null ? (
        <ErrorPanel error={automations.error} onRetry={() => void automations.refetch()} />
      ) : rows === undefined ? (
        <SkeletonRows rows={4} />
      ) : rows.length === 0 ? (
        <EmptyState icon="spark" title="There is no automation" {...(canWrite && { action: add })}>
          An automation runs evaluators on the logs of a condition as they arrive.
        </EmptyState>
      ) : (
        <Table
          label="Automations"
          head={
            <>
              <HeadCell>State</HeadCell>
              <HeadCell>Name</HeadCell>
              <HeadCell>Condition</HeadCell>
              <HeadCell>Evaluators</HeadCell>
              <HeadCell isNumber>Sample</HeadCell>
              <HeadCell>
                <span className="sr-only">Actions</span>
              </HeadCell>
            </>
          }
        >
          {rows.map((automation) => (
            <AutomationRow key={automation.id} automation={automation} canWrite={canWrite} />
          ))}
        </Table>
      )}
    </Panel>
  );
}

function AutomationRow({ automation, canWrite }: { automation: Automation; canWrite: boolean }): ReactNode {
  const { id, name, condition, is_enabled: isEnabled, last_error: problem } = automation;
  const evaluators = automation.evaluator_details.map((each) => visibleLine(each.name)).join(", ");
  return (
    <tr>
      <Cell>
        <Badge tone={isEnabled ? "ok" : "neutral"}>{isEnabled ? "on" : "off"}</Badge>
      </Cell>
      <Cell className="max-w-60 min-w-32" title={visibleLine(name)}>
        <span className="flex items-center gap-1.5">
          <Link
            to="/evaluation"
            search={{ tab: "automations", automation: id }}
            className="truncate font-medium hover:text-accent"
          >
            {visibleLine(name)}
          </Link>
          {problem !== null && (
            <span title={visibleLine(problem)} role="img" aria-label={visibleLine(problem)} className="text-warn">
              <Icon name="alert" size={14} />
            </span>
          )}
        </span>
      </Cell>
      <Cell className="max-w-52" title={visibleLine(condition.name)}>
        <Link
          to="/evaluation"
          search={{ tab: "conditions", condition: condition.id }}
          className="text-muted hover:text-accent"
        >
          {visibleLine(condition.name)}
        </Link>
      </Cell>
      <Cell className="text-muted" title={evaluators}>
        {evaluators}
      </Cell>
      <Cell isNumber>{percentText(automation.configuration.sampling_rate)}%</Cell>
      <Cell className="text-right">{canWrite && <ToggleAutomation automation={automation} />}</Cell>
    </tr>
  );
}
