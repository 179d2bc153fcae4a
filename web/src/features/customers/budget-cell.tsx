import type { ReactNode } from "react";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Unknown } from "../../ui/value.tsx";
import { BudgetBar } from "./budget-bar.tsx";
import { budgetsOf } from "./budget-form.ts";
import { useCustomer } from "./queries.ts";

type BudgetCellProps = { customerId: string; hasBudget: boolean };

/** The used share of a customer's budget. The list does not contain it, the customer's own resource does. */
export function BudgetCell({ customerId, hasBudget }: BudgetCellProps): ReactNode {
  return hasBudget ? <UsedBudget customerId={customerId} /> : <Unknown why="No budget is set." />;
}

function UsedBudget({ customerId }: { customerId: string }): ReactNode {
  const { data: customer, error } = useCustomer(customerId);
  if (error !== null) return <Unknown why={error.message} />;
  if (customer === undefined) return <Skeleton className="h-1.5 w-32" />;
  const { period, total } = budgetsOf(customer);
  const budget = period ?? total;
  if (budget === undefined) return <Unknown why="No budget is set." />;
  return (
    <BudgetBar budget={budget} label={period === undefined ? "Lifetime" : (customer.budget_duration ?? "period")} />
  );
}
