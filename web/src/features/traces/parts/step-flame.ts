import { at } from "../model/at.ts";
import type { FlameTree } from "../model/flame.ts";

/** The bar that an arrow key moves to; undefined for other keys. From -1 it is the first root. */
export function stepFlame(tree: FlameTree, from: number, key: string): number | undefined {
  if (!["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"].includes(key)) return undefined;
  if (from === -1) return tree.parents.length > 0 ? 0 : undefined;
  if (key === "ArrowUp") return at(tree.parents, from) === -1 ? from : at(tree.parents, from);
  if (key === "ArrowDown") return at(tree.ends, from) > from + 1 ? from + 1 : from;
  const siblings = siblingsOf(tree, from);
  const place = siblings.indexOf(from) + (key === "ArrowLeft" ? -1 : 1);
  return siblings[Math.min(Math.max(place, 0), siblings.length - 1)];
}

function siblingsOf(tree: FlameTree, node: number): number[] {
  const parent = at(tree.parents, node);
  const found: number[] = [];
  const end = parent === -1 ? tree.parents.length : at(tree.ends, parent);
  for (let next = parent + 1; next < end; next = at(tree.ends, next)) found.push(next);
  return found;
}
