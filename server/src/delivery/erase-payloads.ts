import { customerInLink } from "../domain/alert.ts";
import type { CustomerKey } from "../domain/customer.ts";
import type { TraceDeletion } from "../domain/trace.ts";
import { isObject, parseKeepingDigits } from "../lib/json.ts";
import { pythonJson } from "../lib/python-json.ts";
import { parseTimeNs } from "../lib/time.ts";
import type { DeliveryPayloads, TracePayload } from "../storage/control/delivery-payloads.ts";
import type { DeliveryStore } from "../storage/control/delivery-store.ts";
import { deliveryLimits } from "./limits.ts";

/** Removes a deleted customer from sent and queued payloads. The events remain. */
export async function eraseCustomerInPayloads(
  deliveries: Pick<DeliveryStore, "listPayloads" | "replacePayload">,
  { organization_id: organizationId, environment, customer_identifier }: CustomerKey,
): Promise<void> {
  const inLink = customerInLink(customer_identifier);
  const containing = [pythonJson(JSON.stringify(customer_identifier)), inLink];
  let after: number | undefined = 0;
  while (after !== undefined) {
    const page = { organizationId, environment, containing, after, limit: deliveryLimits.erasedPayloadsPage };
    const { payloads, next } = await deliveries.listPayloads(page);
    for (const { delivery_id, payload } of payloads) {
      const without = withoutCustomer(parseKeepingDigits(payload), { identifier: customer_identifier, inLink });
      await deliveries.replacePayload({ delivery_id, payload: pythonJson(JSON.stringify(without)) });
    }
    after = next;
    // The control store may run on the main thread.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The members that identify a customer in the payloads of spans, budgets and alerts. */
const identity: ReadonlySet<string> = new Set([
  "customer_identifier",
  "customer_email",
  "customer_name",
  "customer_params",
  "email",
  "name",
  "spans_url",
]);

function withoutCustomer(value: unknown, customer: { identifier: string; inLink: string }): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutCustomer(each, customer));
  if (!isObject(value)) return value;
  const isOfCustomer = value["customer_identifier"] === customer.identifier;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    const isLinkToCustomer = name === "spans_url" && typeof member === "string" && member.includes(customer.inLink);
    if (isLinkToCustomer || (isOfCustomer && identity.has(name))) return [name, null];
    return [name, withoutCustomer(member, customer)];
  });
  return Object.fromEntries(members);
}

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
