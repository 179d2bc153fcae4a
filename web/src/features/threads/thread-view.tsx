import { useMemo, type ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cost, Count } from "../../ui/value.tsx";
import { useThreadSpans, useThreadWrappers } from "./queries.ts";
import { TurnView } from "./turn-view.tsx";
import { readTurns, withWrappers } from "./turns.ts";

/** A conversation, turn by turn, with the cost of each turn. */
export function ThreadView({ thread, onClose }: { thread: string; onClose: () => void }): ReactNode {
  const spans = useThreadSpans(thread);
  const turns = useMemo(() => readTurns((spans.data?.pages ?? []).flatMap(({ rows }) => rows)), [spans.data]);
  const wrappers = useThreadWrappers(
    thread,
    turns.some(({ messages }) => messages.length === 0),
  );
  const shown = useMemo(() => withWrappers(turns, wrappers.data ?? []), [turns, wrappers.data]);
  const costs = turns.flatMap(({ cost }) => cost ?? []);
  const tokens = turns.flatMap((turn) => turn.tokens ?? []);
  const isWhole = spans.hasNextPage ? "so far" : "";
  return (
    <section aria-label="Thread" className="flex h-full min-w-0 flex-col bg-panel">
      <header className="shrink-0 border-b border-line px-3 py-2">
        <div className="flex h-7 items-center gap-2">
          <IconButton icon="arrowLeft" label="Back to the list" onClick={onClose} className="lg:hidden" />
          <h2 className="truncate font-mono text-sm font-semibold" title={visibleLine(thread)}>
            <bdi>{visibleLine(thread)}</bdi>
          </h2>
          <span className="ml-auto flex">
            <CopyButton label="Copy thread id" text={thread} />
            <IconButton icon="close" label="Close" onClick={onClose} className="max-lg:hidden" />
          </span>
        </div>
        <p className="flex flex-wrap gap-x-4 text-sm text-muted">
          <span>
            {turns.length} {turns.length === 1 ? "turn" : "turns"} {isWhole}
          </span>
          <span>
            Cost <Cost usd={costs.length === 0 ? undefined : sum(costs)} why="No turn has a known cost." />
          </span>
          <span>
            Tokens <Count value={tokens.length === 0 ? undefined : sum(tokens)} />
          </span>
        </p>
      </header>
      <div key={thread} className="min-h-0 flex-1 overflow-auto">
        {spans.isPending && <SkeletonRows rows={8} />}
        {spans.error !== null && <ErrorPanel error={spans.error} onRetry={() => void spans.refetch()} />}
        {spans.isSuccess && turns.length === 0 && (
          <EmptyState icon="thread" title="No span names this thread">
            It may be in the other environment, or its spans were deleted.
          </EmptyState>
        )}
        {shown.map((turn, at) => (
          <TurnView key={turn.key} turn={turn} number={at + 1} />
        ))}
        {spans.hasNextPage && (
          <div className="p-3">
            <Button isBusy={spans.isFetchingNextPage} onClick={() => void spans.fetchNextPage()}>
              Show later turns
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
