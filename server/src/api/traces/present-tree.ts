import { buildSpanTree, type TreeSpan } from "../../domain/span-tree.ts";
import { JsonObjectWriter } from "../../lib/json-writer.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import { columnsOf } from "../request-logs/present-span.ts";
import { spanMembers } from "../request-logs/span-members.ts";

const slimMembers = [
  "id",
  "unique_id",
  "span_unique_id",
  "span_name",
  "span_parent_id",
  "trace_unique_id",
  "customer_identifier",
  "thread_identifier",
  "session_identifier",
  "organization_key_id",
  "organization_id",
  "environment",
  "log_type",
  "timestamp",
  "start_time",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "total_request_tokens",
  "cost",
  "model",
  "provider_id",
  "latency",
  "time_to_first_token",
  "status_code",
  "status",
  "error_message",
  "span_workflow_name",
] as const;
const payloadMembers = ["input", "output", "metadata", "span_links"] as const;

/** `slim` leaves out input, output, metadata and span_links; `public` what a stranger must not see. */
export type NodeForm = "full" | "slim" | "public" | "public slim";

/** Members of traces and of their spans that a shared trace does not show. */
export const privateMembers: ReadonlySet<string> = new Set(["metadata", "customer_identifier", "organization_key_id"]);

function membersOf(form: NodeForm): readonly string[] {
  const isSlim = form === "slim" || form === "public slim";
  const members = isSlim ? slimMembers : [...slimMembers, ...payloadMembers];
  return form.startsWith("public") ? members.filter((name) => !privateMembers.has(name)) : members;
}

/** What spans have to be read with. */
export function nodeFields(form: NodeForm) {
  return columnsOf([...membersOf(form), "unique_id", "timestamp"]);
}

/** A span of a trace, without its children. */
export function writeNode(span: StoredSpan, form: NodeForm): JsonObjectWriter {
  const writer = new JsonObjectWriter();
  for (const name of membersOf(form)) writer.raw(name, spanMembers[name]?.json(span) ?? "null");
  writer.raw("end_time", spanMembers["timestamp"]?.json(span) ?? "null");
  return writer.value("storage_object_key", null);
}

/**
 * The tree of spans as the JSON text of a list. Written node by node with a stack of its own: a chain of any depth takes
 * no more of the program's.
 */
export function presentTree(spans: readonly StoredSpan[], form: NodeForm): string {
  const { roots, children } = buildSpanTree(spans.map(treeSpan));
  const pieces = ["["];
  const levels = [{ nodes: roots, next: 0 }];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const node = level.nodes[level.next];
    if (node === undefined) {
      levels.pop();
      pieces.push(levels.length > 0 ? "]}" : "]");
      continue;
    }
    if (level.next > 0) pieces.push(",");
    level.next += 1;
    pieces.push(openNode(spans[node], form));
    levels.push({ nodes: children[node] ?? [], next: 0 });
  }
  return pieces.join("");
}

/** A node up to the bracket that its children follow. */
function openNode(span: StoredSpan | undefined, form: NodeForm): string {
  if (span === undefined) throw new RangeError("the tree has a node without a span");
  const closed = writeNode(span, form).raw("children", "[]").toString();
  return closed.slice(0, -2);
}

function treeSpan({ unique_id, span_unique_id, span_parent_id, start_time, timestamp }: StoredSpan): TreeSpan {
  return {
    unique_id,
    span_unique_id: span_unique_id ?? "",
    span_parent_id: span_parent_id ?? "",
    start_time: start_time ?? "",
    timestamp,
  };
}
