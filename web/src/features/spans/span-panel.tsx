import { useEffect, useRef, type ReactNode } from "react";
import { ErrorPanel, PanelBoundary } from "../../ui/error-panel.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { ConversationTab } from "./conversation-tab.tsx";
import { CostTab } from "./cost-tab.tsx";
import { DetailsTab } from "./details-tab.tsx";
import { JsonTab } from "./json-tab.tsx";
import { RequestTab } from "./request-tab.tsx";
import { SpanHeader } from "./span-header.tsx";
import { useSpan } from "./span-queries.ts";
import type { Span } from "./span-record.ts";
import { SpanSkeleton } from "./span-skeleton.tsx";
import { spanTabs, tabNames, type SpanTab } from "./span-tabs.ts";

type Props = {
  /** The `unique_id`. */
  id: string;
  /** Absent on the page of a span. */
  onClose?: (() => void) | undefined;
  tab?: SpanTab | undefined;
  onTab: (tab: SpanTab) => void;
};

/** Everything about one span, as high as its parent: beside a list or a trace, or as a page. */
export function SpanPanel({ id, onClose, tab = "conversation", onTab }: Props): ReactNode {
  const span = useSpan(id);
  const scroller = useRef<HTMLDivElement>(null);
  useEffect(() => {
    scroller.current?.scrollTo(0, 0);
  }, [id, tab]);
  return (
    <section aria-label="Span" className="flex h-full min-w-0 flex-col bg-panel">
      {span.data === undefined && span.error === null && <SpanSkeleton onClose={onClose} />}
      {span.error !== null && span.data === undefined && (
        <ErrorPanel error={span.error} onRetry={() => void span.refetch()} />
      )}
      {span.data !== undefined && (
        <>
          <SpanHeader id={id} span={span.data} onClose={onClose} />
          <Tabs label="Parts of the span" value={tab} tabs={tabs} onValueChange={onTab} />
          <div ref={scroller} aria-label={tabNames[tab]} role="region" className="min-h-0 flex-1 overflow-auto">
            <PanelBoundary key={`${id} ${tab}`}>
              <TabContent id={id} span={span.data} tab={tab} />
            </PanelBoundary>
          </div>
        </>
      )}
    </section>
  );
}

const tabs = spanTabs.map((value) => ({ value, label: tabNames[value] }));

function TabContent({ id, span, tab }: { id: string; span: Span; tab: SpanTab }): ReactNode {
  if (tab === "json") return <JsonTab id={id} />;
  if (tab === "request") return <RequestTab id={id} />;
  if (tab === "cost") return <CostTab span={span} />;
  if (tab === "details") return <DetailsTab id={id} span={span} />;
  return <ConversationTab id={id} span={span} />;
}
