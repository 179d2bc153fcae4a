import { receivedNsOf, tracePrefix } from "../domain/identity.ts";
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
    // Of a span that was sent again after its customer was deleted, the row says when it was first received.
    const received = spans.map(({ version }) => receivedNsOf(version)).reduce((first, at) => (at < first ? at : first));
    return journal.hasEarlier(tracePrefix({ organization_id: organizationId, environment, trace }), received);
  };
}
