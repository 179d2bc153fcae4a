import type { ConditionPolicy, ConditionRule } from "../domain/condition.ts";
import { ServiceError } from "../domain/errors.ts";
import type { SpanRow } from "../domain/span.ts";
import type { Catalogue } from "../filter/catalogue.ts";
import { compileMatcher } from "../filter/match.ts";
import { parsePolicy } from "../filter/parse.ts";
import { definedFields } from "../lib/defined-fields.ts";
import { domainLimits } from "../domain/limits.ts";

/** The policy as a test of logs, compiled once and used often. A policy without rules holds for every log. */
export function compilePolicy(policy: ConditionPolicy, catalogue: Catalogue<SpanRow>): (row: SpanRow) => boolean {
  return compileMatcher(parsePolicy(policy, catalogue).filter, catalogue);
}

/**
 * What is kept of a policy that was sent, once it is known to be readable.
 *
 * @throws ServiceError `invalid_request` keyed `condition_policy`, naming the field and the operator.
 */
export function checkPolicy(policy: unknown, catalogue: Catalogue<SpanRow>): ConditionPolicy {
  try {
    parsePolicy(policy, catalogue);
  } catch (error) {
    if (error instanceof ServiceError) throw refused(error.message);
    throw error;
  }
  const { rules, connector, ...others } = asReadPolicy(policy);
  const [stranger] = [...Object.keys(others), ...rules.flatMap(unknownMembers)];
  if (stranger !== undefined)
    throw refused(`${JSON.stringify(stranger.slice(0, domainLimits.identifierChars))} is not a member of conditions`);
  for (const { field } of rules) {
    const name = catalogue.find(field)?.name ?? field;
    if (name === "evaluator_id" || name.startsWith("scores__")) {
      throw refused(`field ${JSON.stringify(field)} does not exist yet when conditions are judged`);
    }
  }
  return {
    rules: rules.map(keptMembers),
    connector: (connector ?? "") === "" ? "AND" : String(connector).toUpperCase(),
  };
}

function keptMembers({ field, operator, value, connector }: ConditionRule): ConditionRule {
  return { field, ...definedFields({ operator, value, connector }) };
}

const ruleMembers = new Set(["field", "operator", "value", "connector"]);

function unknownMembers(rule: ConditionRule): string[] {
  return Object.keys(rule).filter((name) => !ruleMembers.has(name));
}

function refused(message: string): ServiceError {
  return new ServiceError("invalid_request", message, { errors: { condition_policy: [message] } });
}

/** `parsePolicy` has read it, which takes an object with a list of objects with a field. */
function asReadPolicy(policy: unknown): ConditionPolicy {
  return policy as ConditionPolicy;
}
