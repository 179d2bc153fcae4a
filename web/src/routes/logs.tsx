import { useState, type ReactNode } from "react";
import { FacetsPanel } from "../features/logs/facets-panel.tsx";
import { LogsList } from "../features/logs/logs-list.tsx";
import { useLogsSearch } from "../features/logs/use-logs-search.ts";
import { useQueryScope } from "../query-bar/use-query-scope.ts";
import { usePanelHistory } from "../features/spans/use-panel-history.ts";
import { cx } from "../ui/cx.ts";
import { PanelBoundary } from "../ui/error-panel.tsx";
import { lazyPart } from "../ui/lazy-part.tsx";
import { SkeletonRows } from "../ui/skeleton.tsx";

const SpanPanel = lazyPart(
  async () => (await import("../features/spans/span-panel.tsx")).SpanPanel,
  () => <SkeletonRows rows={12} />,
);

/** The list of spans, and the open span beside it. All state is in the URL. */
export function LogsScreen(): ReactNode {
  const { search, update } = useLogsSearch();
  const [reload, setReload] = useState(0);
  const [areFacetsShown, setFacetsShown] = useState(() => window.innerWidth >= 1024);
  const scope = useQueryScope(search, reload);
  const { span, tab } = search;
  const history = usePanelHistory();
  return (
    <div className="relative flex h-full min-h-0">
      <div className="flex min-w-0 flex-1 flex-col">
        <h1 className="sr-only">Logs</h1>
        <LogsList
          scope={scope}
          areFacetsShown={areFacetsShown}
          onFacets={() => setFacetsShown((before) => !before)}
          onReload={() => setReload((before) => before + 1)}
          facets={
            areFacetsShown && (
              <aside
                aria-label="Facets"
                className={cx(
                  "w-56 shrink-0 overflow-auto border-r border-line bg-panel max-md:absolute max-md:inset-y-0 max-md:left-0 max-md:z-20",
                  span !== undefined && "max-[1800px]:hidden",
                )}
              >
                <FacetsPanel scope={scope} onQuery={(q) => update({ q: q === "" ? undefined : q })} />
              </aside>
            )
          }
        />
      </div>
      {span !== undefined && (
        <aside
          aria-label="The open span"
          className="w-[clamp(428px,42%,720px)] shrink-0 border-line-strong bg-panel lg:border-l max-lg:absolute max-lg:inset-0 max-lg:z-30 max-lg:w-full"
        >
          <PanelBoundary key={span}>
            <SpanPanel
              id={span}
              tab={tab}
              onTab={(next) => update({ tab: next === "conversation" ? undefined : next }, history.follow)}
              onClose={() => history.close((step) => update({ span: undefined, tab: undefined }, step))}
            />
          </PanelBoundary>
        </aside>
      )}
    </div>
  );
}
