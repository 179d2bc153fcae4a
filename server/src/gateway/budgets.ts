import type { Environment } from "../domain/principal.ts";

/** What the gateway asks of whoever keeps the budgets of customers. */
export type Budgets = {
  /** Reserves an estimate before the call. @param call.estimateUsd null where the price is unknown */
  admit(call: {
    organizationId: string;
    environment: Environment;
    customerIdentifier: string | undefined;
    customerParams?: unknown;
    estimateUsd: number | null;
  }): Promise<Admission>;
};

/** `limitInfo` is plain JSON, snake_case, and becomes part of the span. */
export type Admission =
  | {
      isAllowed: true;
      limitInfo: Record<string, unknown>;
      /** The reservation ends; may be called again, off the caller's path. */
      settle(costUsd: number | null): void;
    }
  | {
      isAllowed: false;
      limitInfo: Record<string, unknown>;
      code: "budget_exceeded" | "rate_limited";
      message: string;
      retryAfterS?: number;
    };
