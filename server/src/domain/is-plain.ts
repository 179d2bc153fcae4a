import { isModelCall } from "./same-call.ts";
import { hasTokens, type UsageFact } from "./usage-fact.ts";

/**
 * Whether every span of a trace obviously counts for its own values, as in most traces: no span with usage has
 * children, no two spans may report the same call, and either all spans name a customer (and a thread) or none does.
 */
export function isPlain(facts: readonly UsageFact[]): boolean {
  const parents = new Set<string>();
  const answers = new Set<string>();
  const [first] = facts;
  const [hasCustomer, hasThread] = [first?.customer_identifier !== "", first?.thread_identifier !== ""];
  for (const fact of facts) {
    if (fact.gateway_log_id !== "" || (fact.customer_identifier !== "") !== hasCustomer) return false;
    if ((fact.thread_identifier !== "") !== hasThread || isBareReport(fact)) return false;
    if (fact.response_id !== "") {
      if (answers.has(fact.response_id)) return false;
      answers.add(fact.response_id);
    }
    if (fact.span_parent_id !== "") parents.add(fact.span_parent_id);
  }
  return !facts.some((fact) => parents.has(fact.span_unique_id) && isUsed(fact));
}

/** A span that may repeat one of another instrumentation that has content. */
const isBareReport = (fact: UsageFact): boolean => !fact.has_content && fact.scope_name !== "" && hasTokens(fact);

const isUsed = (fact: UsageFact): boolean => fact.cost !== null || hasTokens(fact) || isModelCall(fact);
