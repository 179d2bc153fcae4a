import type { ConditionPolicy, ConditionRule } from "../domain/condition.ts";
import { ServiceError } from "../domain/errors.ts";
import type { SpanRow } from "../domain/span.ts";
import type { Catalogue } from "../filter/catalogue.ts";
import { compileMatcher } from "../filter/match.ts";
import { parsePolicy } from "../filter/parse.ts";
import { definedFields } from "../lib/defined-fields.ts";
import { domainLimits } from "../domain/limits.ts";

/** Compiles the policy to a test of logs, for repeated use. A policy without rules matches every log. */
export function compilePolicy(policy: ConditionPolicy, catalogue: Catalogue<SpanRow>): (row: SpanRow) => boolean {
  return compileMatcher(parsePolicy(policy, catalogue).filter, catalogue);
}

/**
 * Checks a policy from a request and returns its stored form.
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
    rules: rules.map(storedRule),
    connector: (connector ?? "") === "" ? "AND" : String(connector).toUpperCase(),
  };
}

function storedRule({ field, operator, value, connector }: ConditionRule): ConditionRule {
  return { field, ...definedFields({ operator, value, connector }) };
}

const ruleMembers = new Set(["field", "operator", "value", "connector"]);

function unknownMembers(rule: ConditionRule): string[] {
  return Object.keys(rule).filter((name) => !ruleMembers.has(name));
}

function refused(message: string): ServiceError {
  return new ServiceError("invalid_request", message, { errors: { condition_policy: [message] } });
}

/** `parsePolicy` has checked that it is an object with a list of objects with a field. */
function asReadPolicy(policy: unknown): ConditionPolicy {
  return policy as ConditionPolicy;
}
