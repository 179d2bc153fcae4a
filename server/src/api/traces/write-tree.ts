import type { Environment } from "../../domain/principal.ts";
import type { JsonObjectWriter } from "../../lib/json-writer.ts";
import { limits } from "../../limits.ts";
import type { SpanStore, StoredTrace } from "../../storage/spans/span-store.ts";
import { nodeFields, presentTree } from "./present-tree.ts";

/** Adds the tree of a trace to its answer: in full, or slim where that is asked for or the trace is too large. */
export async function writeTree(
  spans: Pick<SpanStore, "listTraceSpans">,
  trace: StoredTrace,
  request: { organizationId: string; isSlim: boolean; isPublic: boolean; signal: AbortSignal },
  writer: JsonObjectWriter,
): Promise<void> {
  const isLarge = trace.span_count > limits.fullTreeSpans || trace.payload_bytes > limits.fullTreeBytes;
  const isSlim = request.isSlim || isLarge;
  const form = request.isPublic ? (isSlim ? "public slim" : "public") : isSlim ? "slim" : "full";
  const rows = await spans.listTraceSpans(
    {
      scope: traceScope(trace, request.organizationId),
      traceId: trace.trace_unique_id,
      fields: nodeFields(form),
      limit: limits.treeSpans,
    },
    request.signal,
  );
  writer
    .raw("span_tree", presentTree(rows, form))
    .value("is_slim", isSlim)
    .value("is_truncated", trace.span_count > limits.treeSpans);
}

export function traceScope({ environment }: Pick<StoredTrace, "environment">, organization_id: string) {
  return { organization_id, environment: asEnvironment(environment) };
}

/** The store only holds environments that keys had. */
export function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
