import { useNavigate } from "@tanstack/react-router";
import type { ReactNode, RefObject } from "react";
import { parseSearch } from "../../lib/search.ts";
import { QueryBar } from "../../query-bar/query-bar.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import type { Column } from "./columns.ts";
import { ColumnsMenu } from "./columns-menu.tsx";
import { ExportMenu } from "./export-menu.tsx";
import { SavedViewsMenu } from "./saved-views-menu.tsx";
import { useKnownValues, useMay, useSavedSearch } from "./use-logs-screen.ts";
import type { QueryScope } from "../../query-bar/use-query-scope.ts";
import { useLogsSearch } from "./use-logs-search.ts";
import type { ExportFormat } from "./use-export.ts";

type ToolbarProps = {
  scope: QueryScope;
  columns: readonly Column[];
  onColumns: (columns: readonly Column[] | undefined) => void;
  count: number | undefined;
  onExport: (format: ExportFormat) => void;
  isLive: boolean;
  areFacetsShown: boolean;
  onFacets: () => void;
  onReload: () => void;
  input: RefObject<HTMLInputElement | null>;
};

/** The query and the actions on the list. */
export function LogsToolbar(props: ToolbarProps): ReactNode {
  const { scope, isLive, areFacetsShown } = props;
  const { search, update } = useLogsSearch();
  const { known, setPlace } = useKnownValues(scope);
  const navigate = useNavigate();
  const mayWrite = useMay("views:write");
  const savedSearch = useSavedSearch();
  return (
    <div className="@container border-b border-line bg-bg px-3 py-2">
      <div className="flex flex-wrap items-start gap-1.5 @max-xl:[&>:nth-child(2)]:order-first @max-xl:[&>:nth-child(2)]:basis-full">
        <IconButton
          icon="filter"
          label="Facets"
          variant="default"
          size="md"
          aria-pressed={areFacetsShown}
          className={areFacetsShown ? "text-accent" : ""}
          onClick={props.onFacets}
        />
        <QueryBar
          value={search.q ?? ""}
          input={props.input}
          known={known}
          onPlace={setPlace}
          onCommit={(q) => update({ q: q === "" ? undefined : q })}
        />
        <Button
          icon="play"
          aria-pressed={isLive}
          className={isLive ? "border-accent! text-accent" : ""}
          title="Show spans as they arrive"
          onClick={() => update({ live: isLive ? undefined : "on" })}
        >
          Live
        </Button>
        <SavedViewsMenu
          search={savedSearch}
          mayWrite={mayWrite}
          onOpen={(saved) =>
            void navigate({ to: "/logs", search: { ...parseSearch(saved), env: search.env, tz: search.tz } })
          }
        />
        <ColumnsMenu columns={props.columns} scope={scope} onColumns={props.onColumns} />
        <ExportMenu count={props.count} onExport={props.onExport} isDisabled={scope.problem !== undefined} />
        <IconButton icon="refresh" label="Reload" variant="default" onClick={props.onReload} />
      </div>
    </div>
  );
}
