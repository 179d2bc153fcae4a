/** Selected rows by id; `anchor` is the start of a range. */
export type Selection = { ids: ReadonlySet<string>; anchor: string | undefined };

export const nothingSelected: Selection = { ids: new Set(), anchor: undefined };

/** Selects or deselects a row. */
export function toggleRow({ ids }: Selection, id: string): Selection {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { ids: next, anchor: id };
}

/** Selects all rows between the anchor and a row, in the order of the list. */
export function extendTo(selection: Selection, id: string, order: readonly string[]): Selection {
  const anchor = selection.anchor === undefined ? -1 : order.indexOf(selection.anchor);
  const at = order.indexOf(id);
  if (anchor === -1 || at === -1) return toggleRow(selection, id);
  const between = order.slice(Math.min(anchor, at), Math.max(anchor, at) + 1);
  return { ids: new Set([...selection.ids, ...between]), anchor: selection.anchor };
}

/** All rows, or none if all are selected. */
export function toggleAll({ ids }: Selection, order: readonly string[]): Selection {
  return order.every((id) => ids.has(id)) ? nothingSelected : { ids: new Set(order), anchor: undefined };
}
