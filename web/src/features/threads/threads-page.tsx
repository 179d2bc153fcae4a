import { useState, type ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { cx } from "../../ui/cx.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel, PanelBoundary } from "../../ui/error-panel.tsx";
import { Input } from "../../ui/input.tsx";
import { useKeys } from "../../ui/keys.ts";
import { Select } from "../../ui/select.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { useThreads } from "./queries.ts";
import type { ThreadsSearch, ThreadSort } from "./search.ts";
import { ThreadList } from "./thread-list.tsx";
import { ThreadView } from "./thread-view.tsx";

type Props = {
  window: { start: string; end: string };
  search: ThreadsSearch;
  onSearch: (change: ThreadsSearch) => void;
};

const sorts: Array<{ value: ThreadSort; label: string }> = [
  { value: "-timestamp", label: "Newest" },
  { value: "-total_cost", label: "Cost" },
  { value: "-total_tokens", label: "Tokens" },
  { value: "-log_count", label: "Spans" },
];

/** The threads beside the open one; a narrow screen shows one or the other. */
export function ThreadsPage({ window, search, onSearch }: Props): ReactNode {
  const { thread: open, find, sort = "-timestamp" } = search;
  const threads = useThreads({ ...window, find, sort });
  const found = (threads.data?.pages ?? []).flatMap(({ results }) => results);
  const count = threads.data?.pages[0]?.count;
  const move = (step: number): void => {
    const at = found.findIndex(({ id }) => id === open);
    const next = found[at === -1 ? 0 : at + step];
    if (next !== undefined) onSearch({ thread: next.id });
  };
  useKeys([
    { keys: "j", label: "Next thread", run: () => move(1) },
    { keys: "k", label: "Thread before", run: () => move(-1) },
    { keys: "Escape", label: "Close the thread", run: () => onSearch({ thread: undefined }) },
  ]);
  return (
    <div className="flex h-full min-h-0">
      <h1 className="sr-only">Threads</h1>
      <div
        className={cx(
          "flex min-w-0 flex-col border-r border-line bg-panel lg:w-96 lg:shrink-0",
          open === undefined ? "max-lg:flex-1" : "max-lg:hidden",
        )}
      >
        <div className="flex shrink-0 gap-1 border-b border-line p-2">
          <FindThread key={find ?? ""} find={find} onFind={(text) => onSearch({ find: text })} />
          <Select
            aria-label="Order"
            value={sort}
            options={sorts}
            onValueChange={(next) => onSearch({ sort: next === "-timestamp" ? undefined : next })}
            className="w-28"
          />
        </div>
        <div className="min-h-0 flex-1 overflow-auto">
          {threads.isPending && <SkeletonRows rows={12} />}
          {threads.error !== null && <ErrorPanel error={threads.error} onRetry={() => void threads.refetch()} />}
          {threads.isSuccess && found.length === 0 && (
            <EmptyState icon="thread" title={find === undefined ? "No thread in this range" : "No thread matches"}>
              Spans belong to a thread by their <code>thread_identifier</code>. A longer range may have some.
            </EmptyState>
          )}
          <ThreadList threads={found} open={open} onOpen={(id) => onSearch({ thread: id })} />
          {threads.hasNextPage && (
            <div className="flex items-center gap-2 p-2 text-xs text-muted">
              <Button size="sm" isBusy={threads.isFetchingNextPage} onClick={() => void threads.fetchNextPage()}>
                Show more
              </Button>
              {found.length} of {count}
            </div>
          )}
        </div>
      </div>
      <div className={cx("min-w-0 flex-1", open === undefined && "max-lg:hidden")}>
        {open === undefined ? (
          <EmptyState icon="thread" title="Choose a thread">
            It is shown as its user saw it, with what each turn cost.
          </EmptyState>
        ) : (
          <PanelBoundary key={open}>
            <ThreadView thread={open} onClose={() => onSearch({ thread: undefined })} />
          </PanelBoundary>
        )}
      </div>
    </div>
  );
}

function FindThread({
  find,
  onFind,
}: {
  find: string | undefined;
  onFind: (text: string | undefined) => void;
}): ReactNode {
  const [text, setText] = useState(find ?? "");
  return (
    <form
      className="min-w-0 flex-1"
      onSubmit={(event) => {
        event.preventDefault();
        onFind(text.trim() === "" ? undefined : text.trim());
      }}
    >
      <Input
        type="search"
        aria-label="Find a thread by its id or its customer"
        placeholder="Find by thread or customer"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => text.trim() === "" && find !== undefined && onFind(undefined)}
      />
    </form>
  );
}
