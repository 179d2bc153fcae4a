import type { Environment } from "../../domain/principal.ts";
import { content, type Reply } from "../../http/reply.ts";
import { limits } from "../../limits.ts";
import type { SpanStore, StoredTrace } from "../../storage/spans/span-store.ts";
import { rootFields, writeTrace } from "./present-trace.ts";
import { createTreeWriter, nodeFields, privateMembers, type NodeForm } from "./present-tree.ts";

/** The answer of a trace with its tree: in full, or slim where that is asked for or the trace is too large. */
export async function presentWholeTrace(
  spans: Pick<SpanStore, "readTraceSpans" | "hydrateSpans">,
  trace: StoredTrace,
  request: { organizationId: string; isSlim: boolean; isPublic: boolean; signal: AbortSignal },
): Promise<Reply> {
  const { organizationId, isPublic, signal } = request;
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
  const bytes = Buffer.concat([Buffer.from(start), ...tree, Buffer.from("}")]);
  return content("application/json; charset=utf-8", bytes);
}

async function readTree(
  spans: Pick<SpanStore, "readTraceSpans">,
  trace: StoredTrace,
  request: { organizationId: string; form: NodeForm; signal: AbortSignal },
): Promise<Buffer[]> {
  const tree = createTreeWriter(request.form);
  const query = {
    scope: traceScope(trace, request.organizationId),
    traceId: trace.trace_unique_id,
    stretch: trace.stretch,
    fields: nodeFields(request.form),
    limit: limits.treeSpans,
  };
  for await (const rows of spans.readTraceSpans(query, request.signal)) tree.add(rows);
  return tree.finish();
}

export function traceScope({ environment }: Pick<StoredTrace, "environment">, organization_id: string) {
  return { organization_id, environment: asEnvironment(environment) };
}

/** The store only holds environments that keys had. */
export function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
