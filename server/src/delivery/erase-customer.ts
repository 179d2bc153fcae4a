import { customerInLink } from "../domain/alert.ts";
import type { CustomerKey } from "../domain/customer.ts";
import { isObject, parseKeepingDigits } from "../lib/json.ts";
import { pythonJson } from "../lib/python-json.ts";
import { deliveryLimits } from "./limits.ts";
import type { DeliveryStore } from "../storage/control/delivery-store.ts";

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
