import { buildSpanTree, type SpanTree, type TreeSpan } from "../../domain/span-tree.ts";
import type { ReadColumn } from "../../domain/span.ts";
import type { Pieces } from "../../http/reply.ts";
import { TextStore } from "../../lib/text-store.ts";
import type { RawSpan } from "../../storage/spans/raw-span.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import { columnsOf } from "../request-logs/present-span.ts";
import { rawWriter, type RawWriter, type SpanMember } from "../request-logs/span-member.ts";
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
  "counted_cost",
  "counted_tokens",
  "counted_customer_identifier",
  "counted_thread_identifier",
  "model",
  "provider_id",
  "latency",
  "time_to_first_token",
  "status_code",
  "status",
  "error_message",
  "span_workflow_name",
  "note",
  "is_pinned",
  "positive_feedback",
] as const;
const payloadMembers = ["input", "output", "metadata", "span_links"] as const;

/** As in spans, but links as text, like input and output. */
const nodeMembers = { ...spanMembers, span_links: asText(spanMembers["span_links"]) };

function asText(member: SpanMember | undefined): SpanMember | undefined {
  if (member === undefined) return undefined;
  const json = (span: StoredSpan) => {
    const value = member.json(span);
    return value === "null" || value.startsWith('"') ? value : JSON.stringify(value);
  };
  return { columns: member.columns, lists: member.lists, json };
}

/** `slim` omits input, output, metadata and span_links; `public` omits what strangers must not see. */
export type NodeForm = "full" | "slim" | "public" | "public slim";

/** Members of traces and their spans that a shared trace does not show. */
export const privateMembers: ReadonlySet<string> = new Set([
  "metadata",
  "customer_identifier",
  "counted_customer_identifier",
  "organization_key_id",
  "note",
  "is_pinned",
  "positive_feedback",
]);

function membersOf(form: NodeForm): readonly string[] {
  const members = form.endsWith("slim") ? slimMembers : [...slimMembers, ...payloadMembers];
  return form.startsWith("public") ? members.filter((name) => !privateMembers.has(name)) : members;
}

/** The columns with which spans have to be read. */
export function nodeFields(form: NodeForm) {
  return columnsOf([...membersOf(form), "timestamp"]);
}

/** The columns of a table: the members of a slim tree, or the requested ones of them. */
export function tableMembers(form: NodeForm, requested: readonly string[] | undefined): readonly string[] {
  const members = membersOf(form.startsWith("public") ? "public slim" : "slim");
  return requested === undefined ? members : requested.filter((name) => members.includes(name));
}

/** Returns a function that writes a member for spans that were read with `columns`. */
export function memberWriter(name: string, columns: readonly ReadColumn[]): RawWriter {
  const member = (nodeMembers as Record<string, SpanMember | undefined>)[name];
  return member === undefined ? () => "null" : rawWriter(member, columns);
}

/**
 * Returns a function that writes a span of a trace, read with `columns`, as a JSON object without its closing brace, so
 * that children may follow: as a byte string. Parts that do not depend on the span are computed once. A slim one omits
 * members that are null, and the pin of spans that are not pinned.
 */
export function nodeWriter(form: NodeForm, columns: readonly ReadColumn[]): RawWriter {
  const writerOf = (name: string) => memberWriter(name, columns);
  const members = membersOf(form).map((name) => ({ start: `,${JSON.stringify(name)}:`, write: writerOf(name) }));
  const isSlim = form.endsWith("slim");
  const end = writerOf("timestamp");
  return (span) => {
    let text = `{"end_time":${end(span)},"storage_object_key":null`;
    for (const { start, write } of members) {
      const value = write(span);
      const isNothing = value === "null" || (start === pinned && value === "false");
      if (!isSlim || !isNothing) text += start + value;
    }
    return text;
  };
}

const pinned = ',"is_pinned":';

export type TreeWriter = {
  /** Stores the place of a span in the tree and its serialized text. */
  add(place: TreeSpan, span: RawSpan): void;
  /** The number of spans added. */
  size(): number;
  /** The tree as JSON text of a list, between two other texts. */
  finish(before: string, after: string): Pieces;
};

/**
 * Writes the tree of spans that arrive in any order. Stores only the text of a span, as bytes, and its place, and walks
 * the tree with an explicit stack: neither many spans nor a deep chain of them cost more than their text.
 */
export function createTreeWriter(
  form: NodeForm,
  columns: readonly ReadColumn[],
  /** Converts the text of a node. */
  adapt: (node: string) => string = (node) => node,
): TreeWriter {
  const write = nodeWriter(form, columns);
  const places: TreeSpan[] = [];
  const nodes = new TextStore();
  return {
    add(place, span) {
      places.push(place);
      nodes.add(`${adapt(write(span))},"children":[`);
    },
    size: () => places.length,
    finish(before, after) {
      const [start, end] = [Buffer.from(`${before}[`), Buffer.from(`]${after}`)];
      const tree = buildSpanTree(places);
      const lists = [tree.roots, ...tree.children].filter(({ length }) => length > 0).length;
      const commas = places.length - lists;
      const bytes = start.length + nodes.bytes + places.length * closeNode.length + commas * comma.length + end.length;
      return { bytes, pieces: nodes.pieces(walk(tree, start, end), bytes) };
    },
  };
}

const comma = Buffer.from(",");
const closeNode = Buffer.from("]}");

/** Nodes by their index, and the text between them. */
function* walk({ roots, children }: SpanTree, start: Buffer, end: Buffer): Generator<number | Buffer, void> {
  yield start;
  const levels = [{ places: roots, next: 0 }];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const place = level.places[level.next];
    if (place === undefined) {
      levels.pop();
      yield levels.length > 0 ? closeNode : end;
      continue;
    }
    if (level.next > 0) yield comma;
    level.next += 1;
    yield place;
    levels.push({ places: children[place] ?? [], next: 0 });
  }
}
