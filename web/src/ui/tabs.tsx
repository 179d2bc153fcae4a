import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";
import { markEdges } from "./mark-edges.ts";

export type Tab<T extends string> = { value: T; label: ReactNode; count?: number | undefined };

/** A row of tabs. The caller renders the selected one, mostly from the URL. */
export function Tabs<T extends string>({
  label,
  value,
  tabs,
  onValueChange,
  actions,
}: {
  label: string;
  value: T;
  tabs: readonly Tab<T>[];
  onValueChange: (value: T) => void;
  /** Shown at the right end. */
  actions?: ReactNode;
}): ReactNode {
  return (
    <Base.Root
      value={value}
      onValueChange={(next: unknown) => {
        const tab = tabs.find((each) => each.value === next);
        if (tab !== undefined) onValueChange(tab.value);
      }}
      className="flex items-center border-b border-line"
    >
      <Base.List
        ref={markEdges}
        aria-label={label}
        className="faded-edges flex min-w-0 flex-1 gap-1 overflow-x-auto overflow-y-hidden px-2 [scrollbar-width:none]"
      >
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className="-mb-px flex h-8 items-center gap-1.5 border-b-2 border-transparent px-2 whitespace-nowrap text-muted hover:text-text data-[active]:border-accent data-[active]:font-medium data-[active]:text-text"
          >
            {tab.label}
            {tab.count !== undefined && <span className="figures text-faint">{tab.count}</span>}
          </Base.Tab>
        ))}
      </Base.List>
      {actions !== undefined && <div className="flex items-center gap-1 px-2">{actions}</div>}
    </Base.Root>
  );
}
