import type { AlertDefinition } from "../domain/alert.ts";
import { ServiceError } from "../domain/errors.ts";
import type { SpanRow } from "../domain/span.ts";
import { conditionsOf, type Filter } from "../filter/ast.ts";
import type { Catalogue } from "../filter/catalogue.ts";
import { parseFilters } from "../filter/parse.ts";
import { toClickHouse } from "../filter/to-clickhouse.ts";
import type { EvaluatorStore } from "../storage/control/evaluator-store.ts";
import { spanMetrics, type SpanMetric } from "../storage/spans/span-series.ts";
import type { SpanCondition } from "../storage/spans/span-store.ts";

export type DefinitionDeps = { catalogue: Catalogue<SpanRow>; evaluators: Pick<EvaluatorStore, "find"> };

/** The parts of the span query of a rule. */
export type ReadDefinition = {
  filter: SpanCondition | undefined;
  /** Exactly one of the two is undefined. */
  metric: SpanMetric | undefined;
  evaluator: string | undefined;
};

export const scoreMetricPrefix = "scores__";

/**
 * Reads a rule's definition. Also detects what became invalid after the rule was created, such as a deleted evaluator.
 *
 * @param prefix prefix of the filter's parameter names, so that two filters in one statement do not collide
 * @throws ServiceError `invalid_request` that names the field
 */
export async function readDefinition(
  { filters, metric: name }: Pick<AlertDefinition, "filters" | "metric">,
  uniqueOrganizationId: string,
  { catalogue, evaluators }: DefinitionDeps,
  prefix = "f",
): Promise<ReadDefinition> {
  const { filter, conditions } = parseFilters(filters, catalogue);
  const requireEvaluator = async (field: string, evaluator: string): Promise<void> => {
    if ((await evaluators.find(uniqueOrganizationId, evaluator)) !== undefined) return;
    const message = `${field} names the evaluator ${JSON.stringify(evaluator)}, which does not exist`;
    throw new ServiceError("invalid_request", message, { errors: { [field]: [message] } });
  };
  for (const evaluator of evaluatorsOf(filter)) await requireEvaluator("filters", evaluator);
  const metric = spanMetrics.find((known) => known === name);
  const evaluator = metric === undefined ? name.slice(scoreMetricPrefix.length) : undefined;
  if (evaluator !== undefined) await requireEvaluator("metric", evaluator);
  return { filter: conditions === 0 ? undefined : toClickHouse(filter, catalogue, { prefix }), metric, evaluator };
}

/** The evaluators in a filter, by id or slug. */
function evaluatorsOf(filter: Filter): Set<string> {
  const names = conditionsOf(filter).flatMap(({ field, operator, values }) => {
    if (field.startsWith(scoreMetricPrefix)) return [field.slice(scoreMetricPrefix.length)];
    return field === "evaluator_id" && operator === "equal" ? values.map(String) : [];
  });
  return new Set(names);
}
