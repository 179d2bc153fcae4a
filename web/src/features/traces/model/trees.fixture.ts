import fc from "fast-check";
import type { TreeNode } from "./read-spans.ts";

const epochMs = Date.UTC(2026, 4, 5, 5);

/** A node from `from` to `to`, in milliseconds after a fixed time. */
export function node(
  id: string,
  [from, to]: [number, number],
  rest: Omit<TreeNode, "children"> = {},
  children: TreeNode[] = [],
): TreeNode {
  const time = (ms: number) => new Date(epochMs + ms).toISOString();
  return { unique_id: id, span_name: id, start_time: time(from), timestamp: time(to), ...rest, children };
}

/** Milliseconds after that time, as columns store them. */
export const ms = (after: number): number => epochMs + after;

/** Trees of any form, with siblings by start, as the routes return them. Children may lie anywhere in time. */
export const anyTree: fc.Arbitrary<TreeNode[]> = fc
  .array(
    fc.record({
      parent: fc.nat(),
      from: fc.nat(1000),
      length: fc.nat(500),
      kind: fc.constantFrom("chat", "tool", "agent", "task"),
      cost: fc.option(fc.nat(100)),
      isFailed: fc.boolean(),
    }),
    { maxLength: 60 },
  )
  .map((drafts) => {
    const roots: TreeNode[] = [];
    const made: { children: TreeNode[] }[] = [];
    for (const [n, { parent, from, length, kind, cost, isFailed }] of drafts.entries()) {
      const children: TreeNode[] = [];
      const status = isFailed ? "failed" : "success";
      const made_ = {
        ...node(`s${n}`, [from, from + length], { log_type: kind, counted_cost: cost, status }),
        children,
      };
      const above = made[parent % (made.length + 1)];
      (above?.children ?? roots).push(made_);
      made.push(made_);
    }
    for (const list of [roots, ...made.map(({ children }) => children)]) list.sort(byStart);
    return roots;
  });

function byStart(a: TreeNode, b: TreeNode): number {
  return (a.start_time ?? "") < (b.start_time ?? "") ? -1 : 1;
}

/** A chain of nested nodes. */
export function chain(depth: number): TreeNode[] {
  let below: TreeNode[] = [];
  for (let level = depth - 1; level >= 0; level -= 1)
    below = [node(`d${level}`, [level, depth], { log_type: "task" }, below)];
  return below;
}
