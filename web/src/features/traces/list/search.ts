import { choiceOf, textOf } from "../../../lib/search.ts";

export const traceSorts = ["timestamp", "span_count", "error_count", "total_tokens", "total_cost", "duration"] as const;
export type TraceSort = (typeof traceSorts)[number];
export type TraceOrder = TraceSort | `-${TraceSort}`;

const orders: readonly TraceOrder[] = traceSorts.flatMap((name): TraceOrder[] => [name, `-${name}`]);
export const defaultOrder: TraceOrder = "-timestamp";

/** What the list of traces has in its URL beside the shared parameters. */
export type TracesSearch = {
  /** The typed query. */
  q?: string | undefined;
  sort?: TraceOrder | undefined;
};

export function parseTracesSearch(search: Record<string, unknown>): TracesSearch {
  const q = textOf(search, "q");
  const sort = choiceOf(search, "sort", orders);
  return { ...(q && { q }), ...(sort && sort !== defaultOrder && { sort }) };
}

/** What a click on the head of a column leads to: the largest first, then the smallest, then newest first again. */
export function nextOrder(order: TraceOrder, name: TraceSort): TraceOrder {
  if (order === `-${name}`) return name;
  return order === name && name !== "timestamp" ? defaultOrder : `-${name}`;
}
