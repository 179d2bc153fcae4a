import { ServiceError } from "../domain/errors.ts";
import { filterLimits } from "./limits.ts";
import { conditionsOf, type Condition, type Filter } from "./ast.ts";
import type { Catalogue } from "./catalogue.ts";

/**
 * Refuses a filter that would be too much work for one statement: too many conditions on a field that limits them, or
 * too many texts searched within others, each of which may need a pass over all payload of the window.
 *
 * @throws ServiceError `invalid_request` that names the field
 */
export function boundWork<Row>(filter: Filter, catalogue: Catalogue<Row>): void {
  const conditions = conditionsOf(filter);
  for (const [name, count] of sums(conditions, () => 1)) {
    const max = catalogue.find(name)?.conditionsMax;
    if (max === undefined || count <= max) continue;
    throw refused(name, `a request may have ${max} conditions on ${name}; one condition may have several values`);
  }
  const searches = conditions.filter(({ operator }) => operator === "contains" || operator === "icontains");
  boundSum(searches, filterLimits.filterSearchTexts, ({ values }) => values.length, "texts");
  boundSum(searches, filterLimits.filterSearchChars, charsOf, "characters");
}

function boundSum(
  searches: readonly Condition[],
  max: number,
  amountOf: (condition: Condition) => number,
  what: string,
): void {
  const amounts = [...sums(searches, amountOf)];
  const total = amounts.reduce((sum, [, amount]) => sum + amount, 0);
  if (total <= max) return;
  const [[name, most] = ["filters", 0]] = amounts.toSorted(([, a], [, b]) => b - a);
  throw refused(
    name,
    `a request may look for ${max} ${what} with contains and icontains; ${name} has ${most} of ${total}`,
  );
}

const charsOf = ({ values }: Condition): number => values.reduce<number>((sum, value) => sum + String(value).length, 0);

/** Sums by field. */
function sums(conditions: readonly Condition[], amountOf: (condition: Condition) => number): Map<string, number> {
  const found = new Map<string, number>();
  for (const condition of conditions) {
    found.set(condition.field, (found.get(condition.field) ?? 0) + amountOf(condition));
  }
  return found;
}

function refused(name: string, message: string): ServiceError {
  return new ServiceError("invalid_request", message, { errors: { [name]: [message] } });
}
