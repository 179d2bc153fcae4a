import { formatUuid } from "../../domain/identity.ts";
import type { SpanOrigin } from "../../ingest/normalize/normalize.ts";
import type { Admission, Budgets, CustomerOfCall } from "./budgets.ts";
import type { CallLedger } from "./call-ledger.ts";
import type { CallError } from "./client-answer.ts";
import type { ServiceParams } from "../request/service-params.ts";

/**
 * Checks the budget of the call's customer.
 * @param identity the identity of the call's span, which the call's record shares
 * @param estimate called only if there is a customer; returns null if the price is unknown
 */
export function admitCall(
  budgets: Budgets,
  { origin, identity }: Pick<CallLedger, "origin" | "identity">,
  params: ServiceParams,
  estimate: () => number | null,
): Admission | Promise<Admission> {
  const customer = statedCustomer(origin, params);
  const isAnonymous = customer.customerIdentifier === undefined;
  return budgets.admit({
    ...customer,
    estimateUsd: isAnonymous ? null : estimate(),
    callId: isAnonymous ? "" : formatUuid(identity),
  });
}

/** Stores what a call states about its customer, although it needs no budget. @throws ServiceError `invalid_request` */
export async function observeCustomer(budgets: Budgets, origin: SpanOrigin, params: ServiceParams): Promise<void> {
  if (params.customer_params !== undefined) await budgets.observe(statedCustomer(origin, params));
}

function statedCustomer({ organization_id, environment }: SpanOrigin, params: ServiceParams): CustomerOfCall {
  return {
    organizationId: organization_id,
    environment,
    customerIdentifier: customerOf(params),
    customerParams: params.customer_params,
  };
}

/** The identifier of the call's customer. */
export function customerOf({ customer_identifier, customer_params }: ServiceParams): string | undefined {
  const named = customer_identifier ?? customer_params?.["customer_identifier"];
  return typeof named === "string" && named !== "" ? named : undefined;
}

/** The error for a call that may not begin; undefined for one that may. */
export function refusalOf(admission: Admission): CallError | undefined {
  if (admission.isAllowed) return undefined;
  const { code, message, retryAfterS } = admission;
  return {
    status: 429,
    message,
    type: code,
    param: null,
    code,
    headers: {
      ...(code === "budget_exceeded" && { "x-should-retry": "false" }),
      ...(retryAfterS !== undefined && { "retry-after": String(Math.ceil(retryAfterS)) }),
    },
  };
}
