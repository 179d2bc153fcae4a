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

/** As spans show them, but links as text, like input and output. */
const nodeMembers = { ...spanMembers, span_links: asText(spanMembers["span_links"]) };

function asText(member: SpanMember | undefined): SpanMember | undefined {
  if (member === undefined) return undefined;
  const json = (span: StoredSpan) => {
    const value = member.json(span);
    return value === "null" || value.startsWith('"') ? value : JSON.stringify(value);
  };
  return { columns: member.columns, lists: member.lists, json };
}

/** `slim` leaves out input, output, metadata and span_links; `public` what a stranger must not see. */
export type NodeForm = "full" | "slim" | "public" | "public slim";

/** Members of traces and of their spans that a shared trace does not show. */
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

/** What spans have to be read with. */
export function nodeFields(form: NodeForm) {
  return columnsOf([...membersOf(form), "timestamp"]);
}

/** What a table shows of spans: what a slim tree does, or those members of it that are asked for. */
export function tableMembers(form: NodeForm, asked: readonly string[] | undefined): readonly string[] {
  const members = membersOf(form.startsWith("public") ? "public slim" : "slim");
  return asked === undefined ? members : asked.filter((name) => members.includes(name));
}

/** Writes a member of a span that was read with `columns`. */
export function memberWriter(name: string, columns: readonly ReadColumn[]): RawWriter {
  const member = (nodeMembers as Record<string, SpanMember | undefined>)[name];
  return member === undefined ? () => "null" : rawWriter(member, columns);
}

/**
 * Writes a span of a trace, read with `columns`, as a JSON object up to its closing brace, so that children may follow: as
 * a byte string. What does not depend on the span is made once. A slim one has no members that are null, and
 * none of what is not pinned.
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
  /** The place of a span in the tree is kept, and what is written of it. */
  add(place: TreeSpan, span: RawSpan): void;
  /** How many were added. */
  size(): number;
  /** The tree as JSON text of a list, between two other texts. */
  finish(before: string, after: string): Pieces;
};

/**
 * Writes the tree of spans that come in any order. Of a span only its text, as bytes, and its place are kept, and the
 * tree is walked with a stack of its own: neither many spans nor a deep chain of them cost more than their text.
 */
export function createTreeWriter(
  form: NodeForm,
  columns: readonly ReadColumn[],
  /** What else is done to the bytes of a node. */
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

/** Nodes by their index, and what stands between them. */
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
