import type { Environment } from "../../domain/principal.ts";

/** Whom a call is for, and what it says of them. */
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

/** What the gateway asks of whoever keeps the budgets of customers. */
export type Budgets = {
  /** Reserves before the call what it may cost at most. @param call.estimateUsd null where the price is unknown */
  admit(call: CustomerOfCall & { estimateUsd: number | null; callId: string }): Admission | Promise<Admission>;
  /** Settles what an earlier process reserved for a call and left a record of, if it did not settle it itself. `callId` is that of `admit`. */
  recall(call: RecalledCall): Promise<void>;
  /** Takes over what is said of the customer of a call that costs nothing. @throws ServiceError `invalid_request` */
  hear(call: CustomerOfCall): Promise<void>;
};

/** `limitInfo` is plain JSON, snake_case, and becomes part of the span. */
export type Admission =
  | {
      isAllowed: true;
      limitInfo: Record<string, unknown>;
      /** The reservation ends; may be called again, off the caller's path. The cost is asked for where one was made. */
      settle(costUsd: () => number | null): void;
    }
  | {
      isAllowed: false;
      limitInfo: Record<string, unknown>;
      code: "budget_exceeded" | "rate_limited";
      message: string;
      retryAfterS?: number;
    };
