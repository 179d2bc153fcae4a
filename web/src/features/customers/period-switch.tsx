import type { ReactNode } from "react";
import { cx } from "../../ui/cx.ts";

const periods = [
  { isOfAllTime: false, label: "In range", title: "Customers with a span in the chosen range, with its figures" },
  { isOfAllTime: true, label: "All time", title: "All customers, with their figures over all time" },
];

type SwitchProps = { isOfAllTime: boolean; onChange: (isOfAllTime: boolean) => void };

/** Whether the list is of the chosen range or of all time. */
export function PeriodSwitch({ isOfAllTime, onChange }: SwitchProps): ReactNode {
  return (
    <div role="group" aria-label="Period" className="flex shrink-0 rounded-md border border-line-strong bg-panel p-px">
      {periods.map((each) => (
        <button
          key={each.label}
          type="button"
          aria-pressed={each.isOfAllTime === isOfAllTime}
          title={each.title}
          onClick={() => onChange(each.isOfAllTime)}
          className={cx(
            "h-6 rounded-[5px] px-2 whitespace-nowrap",
            each.isOfAllTime === isOfAllTime ? "bg-raised font-medium" : "text-muted hover:text-text",
          )}
        >
          {each.label}
        </button>
      ))}
    </div>
  );
}
