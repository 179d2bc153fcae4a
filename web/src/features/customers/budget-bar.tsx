import type { ReactNode } from "react";
import { cx } from "../../ui/cx.ts";
import { formatCost, formatExactCost, formatPercent } from "../../lib/format.ts";
import type { Budget } from "./budget-form.ts";

/** The used share of a budget. */
export function BudgetBar({
  budget,
  label,
  isWide = false,
}: {
  budget: Budget;
  label: string;
  isWide?: boolean;
}): ReactNode {
  const { used, limit, share } = budget;
  const tone = share >= 1 ? "bg-error" : share >= 0.8 ? "bg-warn" : "bg-accent";
  const title = `${label}: ${formatExactCost(used)} of ${formatExactCost(limit)} used, ${formatPercent(share * 100)}`;
  return (
    <span className={cx("flex items-center gap-2", isWide && "w-full flex-wrap gap-y-0")} title={title}>
      <span
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(100, Math.round(share * 100))}
        aria-valuetext={title}
        className={cx("h-1.5 overflow-hidden rounded-full bg-raised", isWide ? "min-w-24 flex-1" : "w-16 shrink-0")}
      >
        <span className={cx("block h-full rounded-full", tone)} style={{ width: `${Math.min(100, share * 100)}%` }} />
      </span>
      <span className={cx("figures whitespace-nowrap", share >= 1 ? "text-error" : "text-muted")}>
        {formatCost(used)} / {formatCost(limit)}
      </span>
    </span>
  );
}
