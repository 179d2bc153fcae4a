import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel, PanelBoundary } from "../../ui/error-panel.tsx";
import { Icon } from "../../ui/icon.tsx";
import { ConversationTab } from "./conversation-tab.tsx";
import { EditNote } from "./edit-note.tsx";
import { Editable } from "./editable.tsx";
import { ScoreList } from "./score-list.tsx";
import { SpanHeader } from "./span-header.tsx";
import { useSpan } from "./span-queries.ts";
import { SpanSkeleton } from "./span-skeleton.tsx";

type PageProps = { ids: readonly string[]; onIds: (ids: readonly string[]) => void };

/** Spans side by side: the conversations, with scores and notes above. */
export function ComparePage({ ids, onIds }: PageProps): ReactNode {
  if (ids.length === 0) {
    return (
      <EmptyState icon="columns" title="Nothing to compare">
        Select spans in Logs, then choose Side by side.
      </EmptyState>
    );
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex h-9 shrink-0 items-center gap-3 border-b border-line px-3">
        <h1 className="flex-1 truncate text-muted">
          {ids.length} {ids.length === 1 ? "span" : "spans"} side by side
        </h1>
        <Link
          to="/evaluation"
          search={{ tab: "scores" }}
          className="inline-flex items-center gap-1.5 text-accent hover:underline"
        >
          <Icon name="chart" size={14} />
          Scores over time
        </Link>
      </header>
      {/* Scrolls sideways, so it must be focusable by keyboard. */}
      <div
        role="region"
        aria-label="Spans"
        tabIndex={0}
        className="grid min-h-0 flex-1 snap-x auto-cols-[minmax(min(400px,90vw),1fr)] grid-flow-col overflow-x-auto"
      >
        {ids.map((id) => (
          <CompareColumn key={id} id={id} onClose={() => onIds(ids.filter((each) => each !== id))} />
        ))}
      </div>
    </div>
  );
}

function CompareColumn({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const span = useSpan(id);
  return (
    <section
      aria-label={`Span ${id}`}
      className="flex h-full min-h-0 min-w-0 snap-start flex-col border-r border-line bg-panel last:border-r-0"
    >
      {span.data === undefined ? (
        span.error === null ? (
          <SpanSkeleton onClose={onClose} />
        ) : (
          <ErrorPanel error={span.error} onRetry={() => void span.refetch()} />
        )
      ) : (
        <>
          <SpanHeader id={id} span={span.data} onClose={onClose} />
          <div role="region" aria-label="Content" tabIndex={0} className="min-h-0 flex-1 overflow-auto">
            <PanelBoundary key={id}>
              <div className="flex flex-col gap-3 border-b border-line px-3 py-2">
                <Editable>
                  <ScoreList id={id} />
                </Editable>
                <Editable>
                  <EditNote id={id} span={span.data} />
                </Editable>
              </div>
              <ConversationTab id={id} span={span.data} />
            </PanelBoundary>
          </div>
        </>
      )}
    </section>
  );
}
