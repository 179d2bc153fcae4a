import type { ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { Badge } from "../../ui/badge.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { useTimeZone } from "../../ui/value.tsx";
import { SpanPanel } from "../spans/span-panel.tsx";
import { usePanelHistory } from "../spans/use-panel-history.ts";
import { DeleteTrace } from "./delete-trace.tsx";
import { at } from "./model/at.ts";
import { isRunning } from "./model/polling.ts";
import { People } from "./parts/people.tsx";
import { SidePanel } from "./parts/side-panel.tsx";
import { TraceFigures } from "./parts/trace-figures.tsx";
import { TraceSkeleton } from "./parts/trace-skeleton.tsx";
import { TraceTitle } from "./parts/trace-title.tsx";
import { useLiveTrace, useTrace } from "./queries.ts";
import type { ChangeSearch, TraceSearch } from "./search.ts";
import { ShareTrace } from "./share-trace.tsx";
import { TraceView } from "./trace-view.tsx";

type TraceProps = { id: string; search: TraceSearch; change: ChangeSearch; onDeleted: () => void };

/** One trace of the organization. */
export function Trace({ id, search, change, onDeleted }: TraceProps): ReactNode {
  const { data: model, error, refetch } = useTrace(id);
  const zone = useTimeZone();
  const history = usePanelHistory();
  useLiveTrace(id, model?.header);
  if (model === undefined) {
    if (error === null) return <TraceSkeleton />;
    const isNotFound = error instanceof ApiError && error.status === 404;
    if (!isNotFound) return <ErrorPanel error={error} onRetry={() => void refetch()} />;
    return <EmptyState icon="trace" title="No trace with this id in this environment" />;
  }
  const { header, bounds } = model;
  return (
    <div className="relative flex h-full flex-col">
      <TraceTitle header={header}>
        {isRunning(Date.now(), bounds.endMs) && <Badge tone="ok">Live</Badge>}
        {header.environment === "test" && <Badge tone="warn">Test</Badge>}
        <div className="ml-auto flex shrink-0 items-center gap-1.5">
          <CopyButton text={header.trace_unique_id} label="Copy the id of the trace" />
          <ShareTrace header={header} />
          <DeleteTrace header={header} onDeleted={onDeleted} />
        </div>
      </TraceTitle>
      <TraceFigures header={header} zone={zone}>
        <People header={header} />
      </TraceFigures>
      {error !== null && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      <TraceView
        model={model}
        search={search}
        change={change}
        renderSpan={(index, close) => (
          <SidePanel label="Span">
            <SpanPanel
              id={at(model.spans.ids, index)}
              onClose={close}
              tab={search.panel}
              onTab={(panel) => change({ panel }, history.follow)}
            />
          </SidePanel>
        )}
      />
    </div>
  );
}
