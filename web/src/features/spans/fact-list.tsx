import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import type { Fact } from "./facts.ts";

const shownChars = 500;

export function FactList({ facts, areCopied = false }: { facts: readonly Fact[]; areCopied?: boolean }): ReactNode {
  return (
    <dl className="grid grid-cols-[8.5rem_minmax(0,1fr)] gap-x-3 text-sm">
      {facts.map(({ label, value, title }) => (
        <div key={label} className="group col-span-2 grid grid-cols-subgrid items-start py-px">
          <dt className="text-muted">{label}</dt>
          <dd className="flex min-w-0 items-start gap-1">
            <bdi className="figures [overflow-wrap:anywhere]" title={title}>
              {visibleLine(value.slice(0, shownChars))}
              {value.length > shownChars && "…"}
            </bdi>
            {areCopied && (
              <span className="-my-0.5 shrink-0 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
                <CopyButton label={`Copy ${label.toLowerCase()}`} text={value} />
              </span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
