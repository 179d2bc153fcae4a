import type { Environment } from "../../domain/principal.ts";
import { content, type Reply } from "../../http/reply.ts";
import { limits } from "../../limits.ts";
import type { SpanStore, StoredTrace } from "../../storage/spans/span-store.ts";
import { findTrace } from "./find-trace.ts";
import { rootFields, writeTrace } from "./present-trace.ts";
import { createTreeWriter, nodeFields, privateMembers, type NodeForm, type TreeWriter } from "./present-tree.ts";

type WholeTraceRequest = {
  organizationId: string;
  traceId: string;
  /** The environment that is looked in first. */
  first: Environment;
  isSlim: boolean;
  isPublic: boolean;
  signal: AbortSignal;
};

type TraceReads = Pick<SpanStore, "retrieveTraces" | "readTraceSpans" | "hydrateSpans">;

/**
 * The answer of a trace with its tree: in full, or slim where that is asked for or the trace is too large.
 *
 * The trace is found and then read. Spans that were sent again in between, with other times, are not where they were
 * found, and a tree without them would be a wrong one: then it is found anew.
 */
export async function presentWholeTrace(spans: TraceReads, request: WholeTraceRequest): Promise<Reply> {
  for (let attempt = 1; ; attempt += 1) {
    const trace = await findTrace(spans, request, request.signal);
    const { reply, isWhole } = await readWholeTrace(spans, trace, request);
    if (isWhole || attempt === limits.movedReadAttempts) return reply;
  }
}

async function readWholeTrace(
  spans: TraceReads,
  trace: StoredTrace,
  { organizationId, isPublic, signal, ...request }: WholeTraceRequest,
): Promise<{ reply: Reply; isWhole: boolean }> {
  const isLarge = trace.span_count > limits.fullTreeSpans || trace.payload_bytes > limits.fullTreeBytes;
  const isSlim = request.isSlim || isLarge;
  const form = isPublic ? (isSlim ? "public slim" : "public") : isSlim ? "slim" : "full";
  const [tree, [root]] = await Promise.all([
    readTree(spans, trace, { organizationId, form, signal }),
    spans.hydrateSpans(traceScope(trace, organizationId), [trace.root], rootFields, signal),
  ]);
  const isHidden = (member: string) => isPublic && privateMembers.has(member);
  const start = writeTrace(trace, root, organizationId, isHidden)
    .value("is_slim", isSlim)
    .value("is_truncated", trace.span_count > limits.treeSpans)
    .raw("span_tree", "")
    .toString()
    .slice(0, -1);
  const bytes = Buffer.concat([Buffer.from(start), ...tree.finish(), Buffer.from("}")]);
  return {
    reply: content("application/json; charset=utf-8", bytes),
    isWhole: root !== undefined && tree.size() >= Math.min(trace.span_count, limits.treeSpans),
  };
}

async function readTree(
  spans: Pick<SpanStore, "readTraceSpans">,
  trace: StoredTrace,
  request: { organizationId: string; form: NodeForm; signal: AbortSignal },
): Promise<TreeWriter> {
  const tree = createTreeWriter(request.form);
  const query = {
    scope: traceScope(trace, request.organizationId),
    traceId: trace.trace_unique_id,
    stretch: trace.stretch,
    fields: nodeFields(request.form),
    limit: limits.treeSpans,
  };
  for await (const rows of spans.readTraceSpans(query, request.signal)) tree.add(rows);
  return tree;
}

export function traceScope({ environment }: Pick<StoredTrace, "environment">, organization_id: string) {
  return { organization_id, environment: asEnvironment(environment) };
}

/** The store only holds environments that keys had. */
export function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
