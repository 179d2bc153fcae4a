import type { TraceDeletion } from "../domain/trace.ts";
import { isObject, parseKeepingDigits } from "../lib/json.ts";
import { parseTimeNs } from "../lib/time.ts";
import { deliveryLimits } from "./limits.ts";
import type { DeliveryPayloads, TracePayload } from "../storage/control/delivery-payloads.ts";

/** Deletes the payloads of deleted spans, both sent and queued. The log of deliveries remains. */
export async function eraseTracesInPayloads(
  deliveries: Pick<DeliveryPayloads, "listOfTraces" | "dropPayloads">,
  deletions: readonly TraceDeletion[],
): Promise<void> {
  const scopes = Map.groupBy(deletions, ({ organization_id, environment }) => `${organization_id} ${environment}`);
  for (const ofScope of scopes.values()) {
    for (let from = 0; from < ofScope.length; from += deliveryLimits.erasedPayloadsPage)
      await eraseSome(deliveries, ofScope.slice(from, from + deliveryLimits.erasedPayloadsPage));
  }
}

async function eraseSome(
  deliveries: Pick<DeliveryPayloads, "listOfTraces" | "dropPayloads">,
  deletions: readonly TraceDeletion[],
): Promise<void> {
  const [first] = deletions;
  if (first === undefined) return;
  const { organization_id: organizationId, environment } = first;
  const byTrace = Map.groupBy(deletions, ({ trace_unique_id }) => trace_unique_id);
  const limit = deliveryLimits.erasedPayloadsPage;
  for (let after = 0; ;) {
    const query = { organizationId, environment, traceIds: [...byTrace.keys()], after, limit };
    const found = await deliveries.listOfTraces(query);
    const deleted = found.filter((each) => byTrace.get(each.trace_unique_id)?.some((one) => isOf(each, one)) === true);
    await deliveries.dropPayloads(
      deleted.map(({ delivery_id }) => delivery_id),
      "the trace was deleted",
    );
    const last = found.at(-1);
    if (last === undefined || found.length < limit) return;
    after = last.delivery_id;
    // The control store may run on the main thread.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Whether a deletion covers a payload: a span if it ended within the window, any other event of the trace always.
 * Payloads have milliseconds.
 */
function isOf({ payload, event_type }: TracePayload, { fromNs, toNs }: TraceDeletion): boolean {
  if (event_type !== "request_log") return true;
  const span = parseKeepingDigits(payload);
  const endNs = isObject(span) && typeof span["timestamp"] === "string" ? parseTimeNs(span["timestamp"]) : undefined;
  return endNs === undefined || (endNs + 999_999n >= fromNs && endNs <= toNs);
}
