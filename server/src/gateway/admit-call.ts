import type { SpanOrigin } from "../ingest/normalize.ts";
import type { Admission, Budgets } from "./budgets.ts";
import type { CallError } from "./client-answer.ts";
import type { ServiceParams } from "./service-params.ts";

/**
 * Asks the budget of the call's customer.
 * @param estimateUsd asked for where there is a customer; null where the price is unknown
 */
export async function admitCall(
  budgets: Budgets,
  { organization_id, environment }: SpanOrigin,
  params: ServiceParams,
  estimateUsd: () => number | null,
): Promise<Admission> {
  const customer = customerOf(params);
  return budgets.admit({
    organizationId: organization_id,
    environment,
    customerIdentifier: customer,
    customerParams: params.customer_params,
    estimateUsd: customer === undefined ? null : estimateUsd(),
  });
}

/** Who the call is for. */
export function customerOf({ customer_identifier, customer_params }: ServiceParams): string | undefined {
  const named = customer_identifier ?? customer_params?.["customer_identifier"];
  return typeof named === "string" && named !== "" ? named : undefined;
}

/** What the caller is told of a call that may not begin; undefined for one that may. */
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
