import { choiceOf, textOf } from "../../../lib/search.ts";

export const traceSorts = ["timestamp", "span_count", "error_count", "total_tokens", "total_cost", "duration"] as const;
export type TraceSort = (typeof traceSorts)[number];
export type TraceOrder = TraceSort | `-${TraceSort}`;

const orders: readonly TraceOrder[] = traceSorts.flatMap((name): TraceOrder[] => [name, `-${name}`]);
export const defaultOrder: TraceOrder = "-timestamp";

/** The URL parameters of the list of traces, in addition to the shared ones. */
export type TracesSearch = {
  /** The query as typed. */
  q?: string | undefined;
  sort?: TraceOrder | undefined;
};

export function parseTracesSearch(search: Record<string, unknown>): TracesSearch {
  const q = textOf(search, "q");
  const sort = choiceOf(search, "sort", orders);
  return { ...(q && { q }), ...(sort && sort !== defaultOrder && { sort }) };
}

/** The sort order after a click on a column head: descending, then ascending, then newest first. */
export function nextOrder(order: TraceOrder, name: TraceSort): TraceOrder {
  if (order === `-${name}`) return name;
  return order === name && name !== "timestamp" ? defaultOrder : `-${name}`;
}
