import { tracePrefix } from "../ingest/identity.ts";
import { parseTimeNs } from "../lib/time.ts";
import type { Journal } from "../storage/journal/journal.ts";
import type { StoredFact } from "../storage/spans/usage-facts.ts";
import type { TraceName } from "./trace-memory.ts";

/**
 * Tells whether spans of a trace were received before these, of which nothing is remembered: then the store has them. The journal
 * knows them for as long as it remembers identities.
 */
export function createTraceHistory(
  journal: Pick<Journal, "hasEarlier">,
): (trace: TraceName, spans: readonly StoredFact[]) => boolean {
  return ({ organizationId, environment, trace_unique_id: trace }, spans) => {
    if (trace === "") return false;
    const received = spans.map(({ received_at }) => received_at).reduce((first, at) => (at < first ? at : first), "~");
    const receivedNs = parseTimeNs(received);
    if (receivedNs === undefined) return true;
    return journal.hasEarlier(tracePrefix({ organization_id: organizationId, environment, trace }), receivedNs);
  };
}
