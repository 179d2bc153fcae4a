import type { ReactNode } from "react";
import type { components } from "../../api/schema.gen.ts";
import { formatCost, formatNumberOf, formatPercent } from "../../lib/format.ts";
import { formatAgo, formatDate, formatExactTime, type TimeZone } from "../../lib/time.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { BudgetBar } from "./budget-bar.tsx";
import { budgetsOf } from "./budget-form.ts";

type Customer = components["schemas"]["Customer"];

type BudgetPanelProps = {
  customer: Customer | undefined;
  /** Shown instead of a customer that could not be loaded. */
  error: ReactNode;
  zone: TimeZone;
  onEdit: (() => void) | undefined;
};

/** The customer's budgets and what is left of them. */
export function BudgetPanel({ customer, error, zone, onEdit }: BudgetPanelProps): ReactNode {
  const hasBudget = customer !== undefined && Object.values(budgetsOf(customer)).some((budget) => budget !== undefined);
  const edit = onEdit !== undefined && (
    <Button size="sm" variant="ghost" icon="edit" onClick={onEdit}>
      {hasBudget ? "Edit budget" : "Set budget"}
    </Button>
  );
  return (
    <Panel title="Budgets and limits" actions={edit}>
      {error || (customer === undefined ? <SkeletonRows rows={6} /> : <Limits customer={customer} zone={zone} />)}
    </Panel>
  );
}

function Limits({ customer, zone }: { customer: Customer; zone: TimeZone }): ReactNode {
  const { period, total } = budgetsOf(customer);
  const { budget_duration, current_period_end: ends, unpriced_calls: unpriced, markup_percentage: markup } = customer;
  return (
    <dl className="py-1">
      <Line label={budget_duration === null ? "Period budget" : `${capital(budget_duration)} budget`}>
        {period === undefined ? <None /> : <BudgetBar budget={period} label="Period budget" isWide />}
      </Line>
      {period !== undefined && ends !== null && (
        <Line label="Renews">
          <span title={formatExactTime(ends, zone)}>
            {formatDate(ends, zone)}, {formatAgo(ends)}
          </span>
        </Line>
      )}
      <Line label="Lifetime budget">
        {total === undefined ? <None /> : <BudgetBar budget={total} label="Lifetime budget" isWide />}
      </Line>
      <Line label="Rate limit">
        {customer.rate_limit === null ? <None /> : `${formatNumberOf(customer.rate_limit, "request")} a minute`}
      </Line>
      <Line label="Calls without a price">
        {unpriced === null
          ? "count nothing"
          : unpriced === "refuse"
            ? "are refused"
            : `count ${formatCost(unpriced)} each`}
      </Line>
      <Line label="Markup in usage reports">{formatPercent(markup)}</Line>
      <Line label="First seen">
        <span title={formatExactTime(customer.first_seen, zone)}>{formatDate(customer.first_seen, zone)}</span>
      </Line>
    </dl>
  );
}

function Line({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <div className="flex min-h-row items-center gap-3 px-3">
      <dt className="w-44 shrink-0 text-muted">{label}</dt>
      <dd className="flex min-w-0 flex-1 items-center">{children}</dd>
    </div>
  );
}

const None = (): ReactNode => <span className="text-faint">none</span>;

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
