import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/value.tsx";
import { useAutomations, type Automation } from "./automation-queries.ts";
import { useConditions, type Condition } from "./condition-queries.ts";
import { policyText } from "./policy.ts";
import { AutomationLinks } from "./uses.tsx";

/** The conditions that select the logs of automations. */
export function ConditionsPanel(): ReactNode {
  const navigate = useNavigate();
  const conditions = useConditions();
  const automations = useAutomations();
  const canWrite = useCan("automations:write");
  const rows = conditions.data;
  const add = (
    <Button
      size="sm"
      icon="plus"
      onClick={() => void navigate({ to: "/evaluation", search: { tab: "conditions", condition: "new" } })}
    >
      New condition
    </Button>
  );
  return (
    <Panel title="Conditions" actions={canWrite && add}>
      {conditions.error !== null ? (
        <ErrorPanel error={conditions.error} onRetry={() => void conditions.refetch()} />
      ) : rows === undefined ? (
        <SkeletonRows rows={4} />
      ) : rows.length === 0 ? (
        <EmptyState icon="filter" title="There is no condition">
          A condition says which logs an automation evaluates, with a query as in Logs.
        </EmptyState>
      ) : (
        <Table
          label="Conditions"
          head={
            <>
              <HeadCell>Name</HeadCell>
              <HeadCell>Logs</HeadCell>
              <HeadCell>Used by</HeadCell>
              <HeadCell>Changed</HeadCell>
            </>
          }
        >
          {rows.map((condition) => (
            <ConditionRow key={condition.id} condition={condition} automations={automations.data} />
          ))}
        </Table>
      )}
    </Panel>
  );
}

type RowProps = { condition: Condition; automations: readonly Automation[] | undefined };

function ConditionRow({ condition, automations }: RowProps): ReactNode {
  const { id, name, condition_policy: policy, updated_at: changed } = condition;
  const text = policyText(policy);
  return (
    <tr>
      <Cell className="max-w-60" title={visibleLine(name)}>
        <Link to="/evaluation" search={{ tab: "conditions", condition: id }} className="font-medium hover:text-accent">
          {visibleLine(name)}
        </Link>
      </Cell>
      <Cell className="max-w-96 min-w-40" title={visibleLine(text)}>
        {text === "" ? (
          <span className="text-faint">all</span>
        ) : (
          <code className="text-sm">{visibleLine(text.slice(0, 300))}</code>
        )}
      </Cell>
      <Cell>
        {automations !== undefined && <AutomationLinks uses={automations.filter((each) => each.condition.id === id)} />}
      </Cell>
      <Cell className="whitespace-nowrap text-muted">
        <Time at={changed} isAgo />
      </Cell>
    </tr>
  );
}
