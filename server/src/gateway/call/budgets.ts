import type { Environment } from "../../domain/principal.ts";

/** The customer of a call, and what the call states about the customer. */
export type CustomerOfCall = {
  organizationId: string;
  environment: Environment;
  customerIdentifier: string | undefined;
  customerParams?: unknown;
};

export type RecalledCall = {
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
