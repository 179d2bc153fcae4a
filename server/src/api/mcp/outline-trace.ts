import { isObject } from "../../lib/json.ts";
import { pick } from "../../lib/pick.ts";
import { apiLimits } from "../limits.ts";

/** Members of a span in an outline, if known. */
const members = [
  "unique_id",
  "span_name",
  "log_type",
  "model",
  "status",
  "error_message",
  "start_time",
  "latency",
  "cost",
  "total_tokens",
];

type Node = Record<string, unknown>;

/**
 * A retrieved trace with its tree as a list: parents before their children, with the depth of each. Of a large trace,
 * the levels next to the roots are retained, and a span states how many of its children are missing
 * (`children_left_out`).
 */
export function outlineTrace({ span_tree: tree, ...trace }: Node): Node {
  const roots = nodesOf(tree);
  const { shown, leftOut } = nextToRoots(roots);
  const outline: Node[] = [];
  const pending = roots.toReversed().map((node) => ({ node, depth: 0 }));
  // Iterative, because a chain of spans may be very deep.
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, depth } = next;
    if (!shown.has(node)) continue;
    const children = nodesOf(node["children"]);
    const hidden = children.filter((child) => !shown.has(child)).length;
    const known = members.filter((name) => node[name] !== undefined && node[name] !== "");
    outline.push({ depth, ...pick(node, ...known), ...(hidden > 0 && { children_left_out: hidden }) });
    pending.push(...children.toReversed().map((child) => ({ node: child, depth: depth + 1 })));
  }
  return { ...trace, outline, ...(leftOut > 0 && { spans_left_out: leftOut }) };
}

function nextToRoots(roots: readonly Node[]): { shown: ReadonlySet<Node>; leftOut: number } {
  const shown = new Set<Node>();
  const queue = [...roots];
  for (let at = 0; at < queue.length; at += 1) {
    const node = queue[at];
    if (node === undefined) break;
    if (shown.size < apiLimits.mcpOutlineSpans) shown.add(node);
    for (const child of nodesOf(node["children"])) queue.push(child);
  }
  return { shown, leftOut: queue.length - shown.size };
}

function nodesOf(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
