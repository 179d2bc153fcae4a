import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import type { ChangedMember } from "./audit-changes.ts";

/** The changes in one line; expandable to all of them. */
export function ChangesCell({ members }: { members: readonly ChangedMember[] }): ReactNode {
  if (members.length === 0) return <td className="h-row px-2" />;
  return (
    <td className="h-row w-full max-w-0 min-w-52 px-2 align-top">
      <details className="group">
        <summary className="flex h-row cursor-pointer list-none items-center gap-1 text-muted hover:text-text">
          <span className="inline-block text-faint transition-transform group-open:rotate-90" aria-hidden>
            ›
          </span>
          <span className="truncate">
            {members.map((member, at) => (
              <span key={member.name}>
                {at > 0 && ", "}
                <Member member={member} />
              </span>
            ))}
          </span>
        </summary>
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 pb-1.5 pl-3 text-sm">
          {members.map(({ name, value, before }) => (
            <div key={name} className="contents">
              <dt className="text-muted">{visibleLine(name)}</dt>
              <dd className="figures [overflow-wrap:anywhere] whitespace-pre-wrap">
                {before !== undefined && <span className="text-muted line-through">{visibleLine(before)}</span>}
                {before !== undefined && " → "}
                {visibleLine(value)}
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </td>
  );
}

function Member({ member: { name, value, before, isHidden } }: { member: ChangedMember }): ReactNode {
  if (isHidden) return visibleLine(name);
  return (
    <>
      {visibleLine(name)}:{" "}
      <span className="figures">
        {before === undefined ? "" : `${visibleLine(before)} → `}
        {visibleLine(value.slice(0, 80))}
      </span>
    </>
  );
}
