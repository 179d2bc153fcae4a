import type { TreeSpan } from "./span-tree.ts";

/** The columns of a span that decide which usage of a trace counts, and for whom. '' and null are absent. */
export type UsageFact = TreeSpan & {
  log_type: string;
  /** Made by the gateway itself: always a separate call, whatever its response id. */
  is_gateway: boolean;
  has_content: boolean;
  is_failed: boolean;
  model: string;
  response_id: string;
  gateway_log_id: string;
  scope_name: string;
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
  cost: number | null;
  /** The sender stated the cost; a computed one follows from the tokens and counts with them. */
  is_stated: boolean;
  customer_identifier: string;
  thread_identifier: string;
};

/** What one span counts for. `cost` is null if unknown. */
export type UsageCount = {
  counts_tokens: boolean;
  cost: number | null;
  customer_identifier: string;
  thread_identifier: string;
};

export const hasTokens = ({ total_tokens, prompt_tokens, completion_tokens }: UsageFact): boolean =>
  (total_tokens ?? 0) > 0 || (prompt_tokens ?? 0) > 0 || (completion_tokens ?? 0) > 0;

/** What a span without relations to others counts for. */
export function ownCount(fact: UsageFact): UsageCount {
  const { cost, customer_identifier, thread_identifier } = fact;
  return { counts_tokens: true, cost, customer_identifier, thread_identifier };
}

export function isSameCount(a: UsageCount, b: UsageCount): boolean {
  return (
    a.counts_tokens === b.counts_tokens &&
    a.cost === b.cost &&
    a.customer_identifier === b.customer_identifier &&
    a.thread_identifier === b.thread_identifier
  );
}
