import type { TreeSpan } from "./span-tree.ts";
import { usageLevels } from "./trace.ts";

type Parents = (index: number) => readonly number[];

/**
 * The spans with usage that have a span with usage below them, through spans without: by index. Two that
 * are each other's parent do not restate each other. The same in SQL: `storage/spans/queries/roll-up.ts`.
 */
export function restatedSpans(
  places: readonly Pick<TreeSpan, "span_unique_id" | "span_parent_id">[],
  isUsed: (index: number) => boolean,
): ReadonlySet<number> {
  const parentsOf = parentsIn(places);
  const used = [...places.keys()].filter(isUsed);
  const reached = climb(used, parentsOf, isUsed);
  const restated = new Set([...reached].filter(isUsed));
  // Of two that are each other's parent, what has usage was reached.
  const paired = new Set([...restated].filter((index) => isOwnGrandparent(index, places, parentsOf)));
  if (paired.size === 0) return restated;
  const isStart = (index: number) => isUsed(index) && !paired.has(index);
  return new Set([...climb(used.filter(isStart), parentsOf, isStart)].filter(isUsed));
}

function parentsIn(places: readonly Pick<TreeSpan, "span_unique_id" | "span_parent_id">[]): Parents {
  const byId = new Map<string, number[]>();
  for (const [index, { span_unique_id: id }] of places.entries()) {
    if (id === "") continue;
    const others = byId.get(id);
    if (others === undefined) byId.set(id, [index]);
    else others.push(index);
  }
  return (index) => {
    const { span_parent_id: parent, span_unique_id: id } = places[index] ?? { span_parent_id: "", span_unique_id: "" };
    return parent === id ? [] : (byId.get(parent) ?? []);
  };
}

/** All spans above `starts`, up to the first that is a start itself, and `usageLevels` at most. */
function climb(starts: readonly number[], parentsOf: Parents, isStart: (index: number) => boolean): Set<number> {
  const reached = new Set<number>();
  let level = starts;
  for (let height = 1; level.length > 0 && height <= usageLevels; height += 1) {
    const above: number[] = [];
    for (const parent of level.flatMap(parentsOf)) {
      if (reached.has(parent)) continue;
      reached.add(parent);
      if (!isStart(parent)) above.push(parent);
    }
    level = above;
  }
  return reached;
}

function isOwnGrandparent(index: number, places: readonly Pick<TreeSpan, "span_unique_id">[], parentsOf: Parents) {
  const id = places[index]?.span_unique_id;
  return parentsOf(index)
    .flatMap(parentsOf)
    .some((above) => places[above]?.span_unique_id === id);
}
