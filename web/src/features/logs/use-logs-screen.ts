import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useKeys } from "../../ui/keys.ts";
import { leaveControl } from "../../ui/leave-control.ts";
import { useSettled } from "../../ui/use-settled.ts";
import { useMe } from "../../api/use-me.ts";
import type { Place } from "../../query-bar/complete.ts";
import { membersOf, moveColumn, readColumns, readSort, writeColumns, type Column } from "./columns.ts";
import { useFacets, useLogPages } from "./queries.ts";
import type { LogRow } from "./row.ts";
import { defaultSort } from "./search.ts";
import { extendTo, nothingSelected, toggleAll, toggleRow, type Selection } from "./selection.ts";
import { usePanelHistory } from "../spans/use-panel-history.ts";
import { useLiveTail } from "./use-live-tail.ts";
import type { QueryScope } from "../../query-bar/use-query-scope.ts";
import { useLogsSearch } from "./use-logs-search.ts";

/** The rows of the screen: the list, or in live mode the arriving rows followed by the list as it was at the start. */
export function useLogRows(scope: QueryScope, columns: readonly Column[], isPaused: boolean) {
  const { search } = useLogsSearch();
  const fields = useMemo(() => membersOf(columns), [columns]);
  const isLive = search.live === "on";
  const sort = isLive ? defaultSort : (readSort(search.sort) ?? defaultSort);
  const pages = useLogPages(scope, sort, fields);
  const live = useLiveTail({
    filters: scope.filters,
    fields,
    isOn: isLive && scope.problem === undefined,
    isPaused,
  });
  const { refetch } = pages;
  const isOpen = isLive && live.status === "open";
  // Spans stored after the list was read and before the stream began are in neither, so the list is read again.
  useEffect(() => {
    if (isOpen) void refetch();
  }, [isOpen, refetch]);
  const rows = useMemo(() => {
    if (!isLive) return pages.rows;
    const arrived = new Set(live.rows.map(({ unique_id }) => unique_id));
    return [...live.rows, ...pages.rows.filter(({ unique_id }) => !arrived.has(unique_id))];
  }, [isLive, live.rows, pages.rows]);
  return { rows, pages, live, isLive, sort };
}

export type LogRows = ReturnType<typeof useLogRows>;

/** The columns in the URL, and functions that change them. */
export function useLogColumns() {
  const { search, update } = useLogsSearch();
  const columns = useMemo(() => readColumns(search.cols), [search.cols]);
  const setColumns = useCallback(
    (next: readonly Column[] | undefined) => update({ cols: next && writeColumns(next) }, { replace: true }),
    [update],
  );
  const move = useCallback(
    (id: string, toId: string) => setColumns(moveColumn(columns, id, toId)),
    [columns, setColumns],
  );
  return { columns, setColumns, move };
}

/** The focused, selected and open rows. */
export function useLogNavigation(rows: readonly LogRow[], focusQuery: () => void) {
  const { search, update } = useLogsSearch();
  const [current, setCurrent] = useState(search.span);
  const [selection, setSelection] = useState<Selection>(nothingSelected);
  const order = useRef<string[]>([]);
  useEffect(() => {
    order.current = rows.map(({ unique_id }) => unique_id);
  });
  const openId = search.span;
  const history = usePanelHistory();
  const open = useCallback(
    (id: string | undefined) => {
      if (id === undefined) {
        history.close((step) => update({ span: undefined, tab: undefined }, step));
        return;
      }
      setCurrent(id);
      update({ span: id }, openId === undefined ? history.open : history.follow);
    },
    [history, openId, update],
  );
  const select = useCallback((id: string, isRange: boolean) => {
    setCurrent(id);
    setSelection((before) => (isRange ? extendTo(before, id, order.current) : toggleRow(before, id)));
  }, []);
  const step = (by: 1 | -1): void => {
    const at = current === undefined ? -1 : order.current.indexOf(current);
    const next = order.current[Math.min(order.current.length - 1, Math.max(0, at + by))];
    if (next === undefined) return;
    setCurrent(next);
    // An open span follows the focus without adding to the history, so Back leaves the list.
    if (openId === undefined) leaveControl();
    else update({ span: next }, history.follow);
  };
  const escape = (): void => {
    if (openId !== undefined) open(undefined);
    else setSelection(nothingSelected);
  };
  useKeys([
    { keys: "j", label: "Next span", run: () => step(1) },
    { keys: "k", label: "Previous span", run: () => step(-1) },
    { keys: "ArrowDown", run: () => step(1) },
    { keys: "ArrowUp", run: () => step(-1) },
    { keys: "Enter", label: "Open the span", run: () => current !== undefined && open(current) },
    {
      keys: "x",
      label: "Select the span, with Shift up to it",
      run: ({ shiftKey }) => current !== undefined && select(current, shiftKey),
    },
    { keys: "Escape", label: "Close the span, or clear the selection", run: escape },
    { keys: "/", label: "Edit the query", run: focusQuery },
  ]);
  return {
    current,
    openId,
    selection,
    open,
    select,
    selectAll: useCallback(() => setSelection((before) => toggleAll(before, order.current)), []),
    clear: useCallback(() => setSelection(nothingSelected), []),
  };
}

const noFields: string[] = [];

/** The known values at the place of the cursor in the query. */
export function useKnownValues(scope: QueryScope) {
  const [place, setPlace] = useState<Place>();
  const field = place?.wants === "value" && place.field.hasFacet === true ? place.field.name : undefined;
  const names = useMemo(() => (field === undefined ? noFields : [field]), [field]);
  // If all values of a field are known, only their counts are queried, by the names that the API uses.
  const isClosed = place?.wants === "value" && place.field.choices !== undefined;
  const typed = useSettled(place?.wants === "value" && !isClosed ? place.typed : "");
  const values = useFacets(scope, names, { limit: 50, search: typed });
  const isField = place?.wants === "field";
  const keys = useFacets(
    scope,
    useMemo(() => (isField ? ["status"] : noFields), [isField]),
    { limit: 100 },
  );
  const known = {
    values: field === undefined ? undefined : values.data?.facets.get(field),
    metadataKeys: keys.data?.metadataKeys,
  };
  return { known, setPlace };
}

/** The URL parameters that a saved view keeps: all except the open span. */
export function useSavedSearch(): string {
  const { search } = useLogsSearch();
  return useMemo(() => {
    const { q, sort, cols, range, from, to } = search;
    const retained = Object.entries({ q, sort, cols, range, from, to }).filter(([, value]) => value !== undefined);
    return new URLSearchParams(retained as Array<[string, string]>).toString();
  }, [search]);
}

export function useMay(permission: string): boolean {
  const me = useMe();
  return me.data?.permissions.includes(permission as never) === true;
}
