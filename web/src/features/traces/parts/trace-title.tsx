import type { ReactNode } from "react";
import { Icon } from "../../../ui/icon.tsx";
import type { TraceHeader } from "../model/trace-model.ts";
import { truncateLine, Untrusted } from "./untrusted.tsx";

/** The name of a trace and its actions. */
export function TraceTitle({ header, children }: { header: TraceHeader; children?: ReactNode }): ReactNode {
  const name = header.name || header.trace_unique_id;
  return (
    <header className="flex items-center gap-2 px-4 pt-2.5 pb-1">
      <Icon name="trace" className="text-faint" />
      <h1 className="min-w-0 truncate text-lg font-semibold" title={truncateLine(`${name}\n${header.trace_unique_id}`)}>
        <Untrusted text={name} />
      </h1>
      {children}
    </header>
  );
}
