import type { ReactNode } from "react";
import { formatNumberOf } from "../../lib/format.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { cx } from "../../ui/cx.ts";
import { Cost, Time } from "../../ui/value.tsx";
import type { Thread } from "./queries.ts";

type Props = { threads: readonly Thread[]; open: string | undefined; onOpen: (thread: string) => void };

export function ThreadList({ threads, open, onOpen }: Props): ReactNode {
  return (
    <ul aria-label="Threads">
      {threads.map((thread) => (
        <li key={thread.id}>
          <ThreadItem thread={thread} isOpen={thread.id === open} onOpen={() => onOpen(thread.id)} />
        </li>
      ))}
    </ul>
  );
}

function ThreadItem({ thread, isOpen, onOpen }: { thread: Thread; isOpen: boolean; onOpen: () => void }): ReactNode {
  const { id, customer_identifier, last_timestamp, trace_count, log_count, total_cost } = thread;
  return (
    <button
      type="button"
      aria-current={isOpen ? "true" : undefined}
      onClick={onOpen}
      className={cx(
        "flex w-full flex-col border-b border-line px-3 py-1.5 text-left hover:bg-raised",
        isOpen && "bg-accent-soft hover:bg-accent-soft",
      )}
    >
      <span className="flex w-full items-baseline gap-2">
        <bdi className="truncate font-mono text-sm" title={visibleLine(id)}>
          {visibleLine(id)}
        </bdi>
        <span className="ml-auto shrink-0 text-xs text-muted">
          <Time at={last_timestamp} isAgo />
        </span>
      </span>
      <span className="flex w-full items-baseline gap-2 text-xs text-muted">
        <bdi className="truncate">
          {customer_identifier === null ? "no customer" : visibleLine(customer_identifier)}
        </bdi>
        <span
          className="ml-auto shrink-0"
          title={`${formatNumberOf(log_count, "span")} in ${formatNumberOf(trace_count, "trace")}`}
        >
          {countOf(trace_count, log_count)}
        </span>
        <span className="w-20 shrink-0 text-right">
          <Cost usd={total_cost} why="No call of the thread has a known cost." />
        </span>
      </span>
    </button>
  );
}

/** A span without a trace counts as a turn. */
function countOf(traces: number, spans: number): string {
  return formatNumberOf(traces === 0 ? spans : traces, "turn");
}
