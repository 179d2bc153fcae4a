import { mediaReferences } from "../../domain/media.ts";
import { traceTexts } from "../../domain/trace.ts";
import { columnOf, createTraceFigures } from "../../domain/trace-figures.ts";
import type { TreeSpan } from "../../domain/span-tree.ts";
import type { ReadColumn } from "../../domain/span.ts";
import { content, type Reply } from "../../http/reply.ts";
import { apiLimits } from "../limits.ts";
import { storageLimits } from "../../storage/limits.ts";
import { rawPlace, rawReader, type RawSpan } from "../../storage/spans/raw-span.ts";
import type { SpanStore, StoredSpan } from "../../storage/spans/span-store.ts";
import { figureFields, rootKey, summedTrace, treeSpan } from "../../storage/spans/summed-trace.ts";
import type { StoredTrace, TracePlace, TraceWeight } from "../../storage/spans/trace-queries.ts";
import { traceNotFound, traceScope } from "./trace-scope.ts";
import { columnsOf } from "../request-logs/present-span.ts";
import { rootFields, writeTrace } from "./present-trace.ts";
import { createTableWriter } from "./present-table.ts";
import { createTreeWriter, nodeFields, privateMembers, tableMembers, type NodeForm } from "./present-tree.ts";
import { readPlaced, type TraceRequest } from "./read-placed.ts";
import type { TraceOwner } from "./trace-owner.ts";

/** Spans as a table instead of a tree, with the requested members, or all of a slim tree. */
type Table = { members: readonly string[] | undefined };

type WholeTraceRequest = TraceRequest & {
  isSlim: boolean;
  table?: Table;
  isPublic: boolean;
  /** The path from which its media is read; absent: as in the references. */
  mediaPath?: (id: string) => string;
};

type TraceReads = Pick<
  SpanStore,
  "readSmallTrace" | "placeTraces" | "weighTrace" | "retrieveTraces" | "readTraceSpans" | "hydrateSpans"
>;

/**
 * The response for a trace with its tree: full, or slim if that is requested or the trace is too large. Its spans are
 * read once, for both the tree and the figures: a small trace immediately, a larger one after it was located.
 */
export async function presentWholeTrace(spans: TraceReads, request: WholeTraceRequest): Promise<Reply> {
  const small = await presentSmall(spans, request);
  if (small !== undefined) return small;
  return await readPlaced(spans, request, {
    read: (place) => presentPlaced(spans, place, request),
    isOneStatement: (place) => place.span_count <= storageLimits.traceSpansChunk,
  });
}

/** Undefined for a larger trace. */
async function presentSmall(
  spans: Pick<SpanStore, "readSmallTrace">,
  request: WholeTraceRequest,
): Promise<Reply | undefined> {
  const { organization, traceId, environments, signal } = request;
  const scope = { organization_id: organization.unique_organization_id };
  // Includes the columns of the root, whichever span that is.
  const columns = columnsFor("full");
  const found = await spans.readSmallTrace({ scope, traceId, columns }, signal);
  if (found === undefined) return undefined;
  const place = rawPlace(columns, "environment");
  const environment = environments.find((wanted) => found.some((span) => span[place] === JSON.stringify(wanted)));
  if (environment === undefined) throw traceNotFound();
  const here = JSON.stringify(environment);
  const trace = createTraceWriter(formOf(request, request.isSlim), columns, request);
  const spanAt = new Map<TreeSpan, RawSpan>();
  for (const span of found) if (span[place] === here) spanAt.set(trace.add(span), span);
  const sums = trace.sums();
  const rawRoot = sums && spanAt.get(sums.root);
  if (sums === undefined || rawRoot === undefined) throw traceNotFound();
  const root = rawReader(columns)(rawRoot);
  return trace.finish(summedTrace({ trace_unique_id: traceId, environment }, sums, root), root, {
    ...request,
    isTruncated: false,
  });
}

/** Undefined if there are no spans to show. */
async function presentPlaced(
  spans: TraceReads,
  place: TracePlace,
  request: WholeTraceRequest,
): Promise<Reply | undefined> {
  const { organization, traceId, signal } = request;
  const scope = traceScope(place, organization.unique_organization_id);
  const { range } = place;
  // The place counts resent spans twice. So if it looks too large, the exact weight is read.
  const isSlim =
    request.isSlim || (isLarge(place) && isLarge(await spans.weighTrace({ scope, traceId, range }, signal)));
  const form = formOf(request, isSlim);
  const columns = columnsFor(form, request.table);
  const trace = createTraceWriter(form, columns, request);
  const query = { scope, traceId, range, columns, limit: storageLimits.treeSpans };
  await spans.readTraceSpans(query, (span) => trace.add(span), signal);
  const sums = trace.sums();
  if (sums === undefined) return undefined;
  const isTruncated = place.span_count > storageLimits.treeSpans && trace.size() >= storageLimits.treeSpans;
  const [root] = await spans.hydrateSpans(scope, [rootKey(place.environment, sums)], rootColumns, signal);
  // Not all of its spans were read: the figures come from the store.
  const [counted] = isTruncated ? await spans.retrieveTraces(scope, traceId, signal) : [];
  const shown = counted ?? summedTrace({ trace_unique_id: traceId, environment: place.environment }, sums, root);
  return trace.finish(shown, root, { organization, isPublic: request.isPublic, isSlim, isTruncated });
}

function isLarge({ span_count: count, payload_bytes: bytes }: TraceWeight): boolean {
  return count > apiLimits.fullTreeSpans || bytes > apiLimits.fullTreeBytes;
}

function formOf({ isPublic }: WholeTraceRequest, isSlim: boolean): NodeForm {
  if (isPublic) return isSlim ? "public slim" : "public";
  return isSlim ? "slim" : "full";
}

function columnsFor(form: NodeForm, table?: Table): ReadColumn[] {
  const shown = table === undefined ? nodeFields(form) : columnsOf(tableMembers(form, table.members));
  return [...new Set([...shown, ...figureFields])];
}

const rootColumns = [
  ...new Set([...rootFields, "span_name", "organization_key_id", ...traceTexts.map(columnOf)] as const),
];

function createTraceWriter(
  form: NodeForm,
  columns: readonly ReadColumn[],
  { mediaPath, table }: Pick<WholeTraceRequest, "mediaPath" | "table">,
) {
  const adapt = (json: string) =>
    mediaPath === undefined ? json : json.replaceAll(mediaReferences(), (_reference, id: string) => mediaPath(id));
  const tree =
    table === undefined ? createTreeWriter(form, columns, adapt) : createTableWriter(form, table.members, columns);
  const figures = createTraceFigures();
  const read = rawReader(columns, figureFields);
  return {
    add(raw: RawSpan): TreeSpan {
      const span = read(raw);
      const place = treeSpan(span);
      tree.add(place, raw);
      figures.add(place, span);
      return place;
    },
    size: () => tree.size(),
    /** Undefined without spans. */
    sums: () => figures.finish(),
    /** `root` is undefined if it was deleted meanwhile. */
    finish(
      trace: StoredTrace,
      root: StoredSpan | undefined,
      how: { organization: TraceOwner; isPublic: boolean; isSlim: boolean; isTruncated: boolean },
    ): Reply {
      const isHidden = (member: string) => how.isPublic && privateMembers.has(member);
      const start = writeTrace(trace, root, how.organization, isHidden)
        .value("is_slim", how.isSlim)
        .value("is_truncated", how.isTruncated)
        .raw(table === undefined ? "span_tree" : "span_table", "")
        .toString()
        .slice(0, -1);
      return content("application/json; charset=utf-8", tree.finish(adapt(start), "}"));
    },
  };
}
