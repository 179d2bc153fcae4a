import { buildSpanTree, type TreeSpan } from "../../domain/span-tree.ts";
import type { ReadColumn } from "../../domain/span.ts";
import type { RawSpan } from "../../storage/spans/raw-span.ts";
import { TextStore } from "../../lib/text-store.ts";
import { memberWriter, tableMembers, type NodeForm, type TreeWriter } from "./present-tree.ts";

/**
 * Writes the spans of a trace as a table: names of members once, and a row of values for each span. A tree of 45,000
 * spans is three times as long, and most of it is names.
 */
export function createTableWriter(
  form: NodeForm,
  requested: readonly string[] | undefined,
  columns: readonly ReadColumn[],
): TreeWriter {
  const members = tableMembers(form, requested);
  const writers = members.map((member) => memberWriter(member, columns));
  const places: TreeSpan[] = [];
  const rows = new TextStore();
  return {
    add(place: TreeSpan, span: RawSpan) {
      places.push(place);
      let row = "[";
      for (const write of writers) row += row.length === 1 ? write(span) : `,${write(span)}`;
      rows.add(`${row}]`);
    },
    size: () => places.length,
    finish(before, after) {
      const { order, parents } = inOrder(places);
      const head = { members, parents };
      const start = Buffer.from(`${before}${JSON.stringify(head).slice(0, -1)},"rows":[`);
      const end = Buffer.from(`]}${after}`);
      const bytes = start.length + rows.bytes + Math.max(0, order.length - 1) + end.length;
      return { bytes, pieces: rows.pieces(between(start, order, end), bytes) };
    },
  };
}

const comma = Buffer.from(",");

function* between(start: Buffer, order: readonly number[], end: Buffer): Generator<number | Buffer, void> {
  yield start;
  for (const [row, place] of order.entries()) {
    if (row > 0) yield comma;
    yield place;
  }
  yield end;
}

/** Spans in the order of their tree, each directly before its descendants, and for each the row of its parent. */
function inOrder(places: readonly TreeSpan[]): { order: number[]; parents: (number | null)[] } {
  const tree = buildSpanTree(places);
  const order: number[] = [];
  const parents: (number | null)[] = [];
  const open: { place: number; parent: number | null }[] = [];
  const push = (children: readonly number[], parent: number | null) => {
    for (let last = children.length - 1; last >= 0; last -= 1) open.push({ place: children[last] ?? 0, parent });
  };
  push(tree.roots, null);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const row = order.push(next.place) - 1;
    parents.push(next.parent);
    push(tree.children[next.place] ?? [], row);
  }
  return { order, parents };
}
