import type { ReactNode } from "react";
import { visibleLine } from "../lib/visible-text.ts";

type Callable = { name: string; refused_reason?: string | undefined };

/** Why the server's configuration rejects calls to some URLs. */
export function Refusals({ of: callables }: { of: readonly Callable[] }): ReactNode {
  const refused = callables.flatMap(({ name, refused_reason: reason }) =>
    reason === undefined ? [] : [{ name, reason }],
  );
  if (refused.length === 0) return null;
  return (
    <ul
      role="alert"
      className="flex flex-col gap-1 border-b border-warn/40 bg-warn-soft px-3 py-2 [overflow-wrap:anywhere]"
    >
      {refused.map(({ name, reason }, at) => (
        <li key={at}>
          Calls to <strong className="font-medium">{visibleLine(name)}</strong> will be refused: {reason}.
        </li>
      ))}
    </ul>
  );
}
