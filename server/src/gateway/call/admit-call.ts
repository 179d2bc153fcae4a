import { formatUuid } from "../../domain/identity.ts";
import type { Environment } from "../../domain/principal.ts";
import type { SpanOrigin } from "../../ingest/normalize/normalize.ts";
import type { ServiceParams } from "../request/service-params.ts";
import type { CallLedger } from "./call-ledger.ts";
import type { CallError } from "./client-answer.ts";

/** The customer of a call, and what the call states about the customer. */
type CustomerOfCall = {
  organizationId: string;
  environment: Environment;
  customerIdentifier: string | undefined;
  customerParams?: unknown;
};

type RecalledCall = {
  organization_id: string;
  environment: Environment;
  customer_identifier: string;
  callId: string;
  costUsd: number | null;
};

/** The gateway's port to the budgets of customers. */
export type Budgets = {
  /** Reserves the highest possible cost before the call. @param call.estimateUsd null if the price is unknown */
  admit(call: CustomerOfCall & { estimateUsd: number | null; callId: string }): Admission | Promise<Admission>;
  /**
   * Settles a reservation of an earlier process that left a record of the call but did not settle it. `callId` is that
   * of `admit`.
   */
  recall(call: RecalledCall): Promise<void>;
  /** Stores what a free call states about its customer. @throws ServiceError `invalid_request` */
  observe(call: CustomerOfCall): Promise<void>;
};

/** `limitInfo` is plain JSON in snake_case and becomes part of the span. */
export type Admission =
  | {
      isAllowed: true;
      limitInfo: Record<string, unknown>;
      /**
       * Ends the reservation. May be called more than once, off the caller's path. Computes the cost only if there was
       * a reservation.
       */
      settle(costUsd: () => number | null): void;
    }
  | {
      isAllowed: false;
      limitInfo: Record<string, unknown>;
      code: "budget_exceeded" | "rate_limited";
      message: string;
      retryAfterS?: number;
    };

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
