import { useState, type ReactNode } from "react";
import { IconButton } from "../../ui/button.tsx";
import { visibleLine } from "../../lib/visible-text.ts";
import { findColumn, knownColumns, moveColumn, type Column } from "./columns.ts";
import { useFacets } from "./queries.ts";
import { PopupButton } from "./popup-button.tsx";
import type { QueryScope } from "../../query-bar/use-query-scope.ts";

type MenuProps = {
  columns: readonly Column[];
  scope: QueryScope;
  onColumns: (columns: readonly Column[] | undefined) => void;
};

export function ColumnsMenu(props: MenuProps): ReactNode {
  return (
    <PopupButton icon="columns" label="Columns">
      {() => <ColumnsList {...props} />}
    </PopupButton>
  );
}

const anyField = ["status"];

function ColumnsList({ columns, scope, onColumns }: MenuProps): ReactNode {
  const [search, setSearch] = useState("");
  const facets = useFacets(scope, anyField, { limit: 100 });
  const ofMetadata = (facets.data?.metadataKeys ?? []).flatMap(({ key }) => findColumn(`metadata.${key}`) ?? []);
  const typed = search.startsWith("score.") || search.startsWith("metadata.") ? findColumn(search) : undefined;
  const shown = new Set(columns.map(({ id }) => id));
  const all = [...columns, ...knownColumns, ...ofMetadata, ...(typed === undefined ? [] : [typed])];
  const unique = [...new Map(all.map((column) => [column.id, column])).values()];
  const needle = search.toLowerCase();
  const found = unique.filter(({ id, title }) => `${id} ${title}`.toLowerCase().includes(needle));
  const toggle = (column: Column): void =>
    onColumns(shown.has(column.id) ? columns.filter(({ id }) => id !== column.id) : [...columns, column]);
  return (
    <>
      <input
        aria-label="Search columns"
        placeholder="Search, or type metadata.key or score.slug"
        className="h-8 w-full border-b border-line bg-transparent px-3 outline-none"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <div className="max-h-80 overflow-auto py-1">
        {found.map((column) => (
          <div key={column.id} className="group flex h-7 items-center pr-1 hover:bg-raised">
            <label className="flex min-w-0 flex-1 items-center gap-2 pl-3">
              <input
                type="checkbox"
                className="size-3.5 accent-accent"
                checked={shown.has(column.id)}
                onChange={() => toggle(column)}
              />
              <bdi className="truncate">{visibleLine(column.title)}</bdi>
              {column.key !== undefined && <span className="ml-auto text-xs text-faint">{column.kind}</span>}
            </label>
            {shown.has(column.id) && <Movers columns={columns} column={column} onColumns={onColumns} />}
          </div>
        ))}
        {found.length === 0 && <p className="px-3 py-1 text-sm text-faint">No column has this name.</p>}
      </div>
      <button
        type="button"
        className="h-8 w-full border-t border-line text-sm text-accent hover:bg-raised"
        onClick={() => onColumns(undefined)}
      >
        The usual columns
      </button>
    </>
  );
}

/** Buttons that reorder columns without dragging. */
function Movers({
  columns,
  column,
  onColumns,
}: Pick<MenuProps, "columns" | "onColumns"> & { column: Column }): ReactNode {
  const at = columns.indexOf(column);
  const move = (to: Column | undefined): void => {
    if (to !== undefined) onColumns(moveColumn(columns, column.id, to.id));
  };
  const name = visibleLine(column.title);
  return (
    <span className="flex opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 max-md:opacity-100">
      <IconButton
        size="sm"
        icon="arrowUp"
        label={`Move ${name} to the left`}
        disabled={at === 0}
        onClick={() => move(columns[at - 1])}
      />
      <IconButton
        size="sm"
        icon="arrowDown"
        label={`Move ${name} to the right`}
        disabled={at === columns.length - 1}
        onClick={() => move(columns[at + 1])}
      />
    </span>
  );
}
