import type { Environment } from "../../domain/principal.ts";
import { columnOf, createTraceFigures, type TraceSums } from "../../domain/trace-figures.ts";
import { traceTexts, type TraceText } from "../../domain/trace.ts";
import { content, type Reply } from "../../http/reply.ts";
import { parseTimeNs } from "../../lib/time.ts";
import { limits } from "../../limits.ts";
import type { SpanStore, StoredSpan, StoredTrace, TracePlace } from "../../storage/spans/span-store.ts";
import { compareSpans, type TreeSpan } from "../../domain/span-tree.ts";
import { findTrace, traceNotFound } from "./find-trace.ts";
import { rootFields, writeTrace } from "./present-trace.ts";
import { createTreeWriter, figureFields, nodeFields, privateMembers, type NodeForm } from "./present-tree.ts";

type WholeTraceRequest = {
  organizationId: string;
  traceId: string;
  /** The environment that is looked in first. */
  first: Environment;
  isSlim: boolean;
  isPublic: boolean;
  signal: AbortSignal;
};

type TraceReads = Pick<SpanStore, "placeTraces" | "retrieveTraces" | "readTraceSpans" | "hydrateSpans">;

/**
 * The answer of a trace with its tree: in full, or slim where that is asked for or the trace is too large.
 *
 * The trace is placed, then its spans are read, once, for the tree and the figures alike. Spans that were sent again in
 * between, with other times, are not where they were, and a tree without them would be a wrong one: then all of it is
 * done anew.
 */
export async function presentWholeTrace(spans: TraceReads, request: WholeTraceRequest): Promise<Reply> {
  const scope = { organization_id: request.organizationId };
  for (let attempt = 1; ; attempt += 1) {
    const places = await spans.placeTraces(scope, request.traceId, request.signal);
    places.sort((a, b) => Number(b.environment === request.first) - Number(a.environment === request.first));
    const { reply, looked } = await firstThere(spans, places, request);
    if (attempt < limits.movedReadAttempts && (await hasMoved(spans, looked, request))) continue;
    if (reply === undefined) throw traceNotFound();
    return reply;
  }
}

/** Where all spans of one place are deleted, the next is meant. */
async function firstThere(
  spans: TraceReads,
  places: readonly TracePlace[],
  request: WholeTraceRequest,
): Promise<{ reply: Reply | undefined; looked: TracePlace[] }> {
  const looked: TracePlace[] = [];
  for (const place of places) {
    looked.push(place);
    const reply = await readPlace(spans, place, request);
    if (reply !== undefined) return { reply, looked };
  }
  return { reply: undefined, looked };
}

/** Asked only of places that something came in for just now: a trace that is over keeps its place. */
async function hasMoved(
  spans: Pick<SpanStore, "placeTraces">,
  looked: readonly TracePlace[],
  { organizationId, traceId, signal }: WholeTraceRequest,
): Promise<boolean> {
  if (!looked.some((place) => place.is_recent)) return false;
  const now = await spans.placeTraces({ organization_id: organizationId }, traceId, signal);
  return looked.some((before) => {
    const after = now.find((place) => place.environment === before.environment);
    return after !== undefined && !isSamePlace(before, after);
  });
}

function isSamePlace(before: TracePlace, after: TracePlace): boolean {
  const isWithin = after.stretch.first >= before.stretch.first && after.stretch.last <= before.stretch.last;
  // One statement sees one moment; between several of them a span may have moved from what was not read to what was.
  const isOneMoment = before.span_count <= limits.traceSpansChunk || after.span_count === before.span_count;
  return isWithin && isOneMoment;
}

/** Undefined when nothing is there to see. */
async function readPlace(
  spans: TraceReads,
  place: TracePlace,
  { organizationId, traceId, isPublic, signal, ...request }: WholeTraceRequest,
): Promise<Reply | undefined> {
  const isLarge = place.span_count > limits.fullTreeSpans || place.payload_bytes > limits.fullTreeBytes;
  const isSlim = request.isSlim || isLarge;
  const form: NodeForm = isPublic ? (isSlim ? "public slim" : "public") : isSlim ? "slim" : "full";
  const scope = traceScope(place, organizationId);
  const tree = createTreeWriter(form);
  const figures = createTraceFigures();
  // Most likely the root. Of a slim tree it was read without what is told of the root.
  let top: { at: TreeSpan; row: StoredSpan } | undefined;
  const query = { scope, traceId, stretch: place.stretch, limit: limits.treeSpans };
  const fields = [...new Set([...nodeFields(form), ...figureFields])];
  for await (const rows of spans.readTraceSpans({ ...query, fields }, signal)) {
    for (const row of rows) {
      const at = tree.add(row);
      figures.add(at, row);
      if (at.span_parent_id === "" && (top === undefined || compareSpans(at, top.at) < 0)) top = { at, row };
    }
  }
  const sums = figures.finish();
  if (sums === undefined) return undefined;
  const isTruncated = place.span_count > limits.treeSpans && tree.size() >= limits.treeSpans;
  const key = { timestamp: sums.root.timestamp, unique_id: sums.root.unique_id, environment: place.environment };
  const [root] =
    !isSlim && top !== undefined && top.at === sums.root
      ? [top.row]
      : await spans.hydrateSpans(scope, [{ ...key, version: "" }], rootColumns, signal);
  const trace = isTruncated
    ? await findTrace(spans, { organizationId, traceId, first: asEnvironment(place.environment) }, signal)
    : traceOf(traceId, place, sums, root);
  const isHidden = (member: string) => isPublic && privateMembers.has(member);
  const start = writeTrace(trace, root, organizationId, isHidden)
    .value("is_slim", isSlim)
    .value("is_truncated", isTruncated)
    .raw("span_tree", "")
    .toString()
    .slice(0, -1);
  const bytes = Buffer.concat([Buffer.from(start), ...tree.finish(), Buffer.from("}")]);
  return content("application/json; charset=utf-8", bytes);
}

const rootColumns = [
  ...new Set([...rootFields, "span_name", "organization_key_id", ...traceTexts.map(columnOf)] as const),
];

function traceOf(traceId: string, place: TracePlace, sums: TraceSums, root: StoredSpan | undefined): StoredTrace {
  const { root: at, texts, ...shown } = sums;
  const said = traceTexts.map((name) => [name, root?.[columnOf(name)] || texts[name]] as const);
  return {
    ...shown,
    ...(Object.fromEntries(said) as Record<TraceText, string>),
    trace_unique_id: traceId,
    environment: place.environment,
    duration: secondsBetween(shown),
    name: root?.span_name ?? "",
    organization_key_id: root?.organization_key_id ?? "",
    root_span_unique_id: at.span_unique_id,
    root: { timestamp: at.timestamp, unique_id: at.unique_id, environment: place.environment, version: "" },
    payload_bytes: place.payload_bytes,
    stretch: place.stretch,
  };
}

/** Clocks disagree: a duration is never negative. */
function secondsBetween({ start_time, end_time }: Pick<TraceSums, "start_time" | "end_time">): number {
  const ns = (parseTimeNs(end_time) ?? 0n) - (parseTimeNs(start_time) ?? 0n);
  return Math.max(0, Number(ns) / 1e9);
}

export function traceScope({ environment }: Pick<StoredTrace, "environment">, organization_id: string) {
  return { organization_id, environment: asEnvironment(environment) };
}

/** The store only holds environments that keys had. */
export function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
