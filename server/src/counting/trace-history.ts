import { receivedNsOf, tracePrefix } from "../domain/identity.ts";
import type { Journal } from "../storage/journal/journal.ts";
import type { StoredFact } from "../storage/spans/usage-facts.ts";
import type { TraceName } from "./trace-memory.ts";

/**
 * Returns whether spans of a trace were received before these and are not in memory: then the store has them. The
 * journal knows as long as it remembers identities.
 */
export function createTraceHistory(
  journal: Pick<Journal, "hasEarlier">,
): (trace: TraceName, spans: readonly StoredFact[]) => boolean {
  return ({ organizationId, environment, trace_unique_id: trace }, spans) => {
    if (trace === "") return false;
    // If a span was resent after its customer was deleted, the row has the time of its first receipt.
    const received = spans.map(({ version }) => receivedNsOf(version)).reduce((first, at) => (at < first ? at : first));
    return journal.hasEarlier(tracePrefix({ organization_id: organizationId, environment, trace }), received);
  };
}
