import { randomUUID } from "node:crypto";
import type { Evaluator, ScoreValueType } from "../domain/evaluator.ts";
import { noValue, type Score } from "../domain/score.ts";
import type { SpanRow } from "../domain/span.ts";
import { evaluationLimits } from "./limits.ts";
import { storageLimits } from "../storage/limits.ts";
import { isPassed } from "./passing.ts";
import { readScoreValue } from "./read-score-value.ts";
import type { EvaluationResult } from "./sent-scores.ts";

/** Labels that state a verdict by themselves. The meaning of others depends on their evaluator. */
const verdicts = new Map([
  ["pass", true],
  ["passed", true],
  ["true", true],
  ["fail", false],
  ["failed", false],
  ["false", false],
]);

const textOf = ({ value, label }: EvaluationResult): string | undefined => label ?? value?.toString();

/** The raw value of a result for each score type. */
const rawValues: Record<ScoreValueType, (result: EvaluationResult) => unknown> = {
  numerical: ({ value }) => numberIn(value),
  percentage: ({ value }) => numberIn(value),
  boolean: ({ value, label }) =>
    value === 0 || value === 1 ? value === 1 : (value ?? verdicts.get(label?.toLowerCase() ?? "")),
  text: textOf,
  single_select: textOf,
  multi_select: (result) => [textOf(result)],
  json: ({ value, label }) => ({ value, label }),
};

/**
 * A result as a score of its evaluator. The score has failed if the evaluation did, or if the value does not fit the
 * evaluator.
 */
export function scoreOfResult(
  row: Pick<SpanRow, "organization_id" | "environment" | "unique_id">,
  evaluator: Evaluator,
  result: EvaluationResult,
  at: string,
): Score {
  const isValued = (result.value ?? result.label) !== undefined;
  const reading = isValued
    ? readScoreValue(evaluator, { score: rawValues[evaluator.score_value_type](result) })
    : undefined;
  const value = reading?.ok === true ? reading.value : undefined;
  const error = reading?.ok === false ? reading.error : (result.error ?? "the evaluation failed");
  return {
    ...(value ?? noValue),
    id: randomUUID(),
    unique_organization_id: row.organization_id,
    environment: row.environment,
    log_id: row.unique_id,
    evaluator_id: evaluator.id,
    evaluator_slug: evaluator.evaluator_slug,
    evaluator_name: evaluator.name,
    type: evaluator.type,
    score_value_type: evaluator.score_value_type,
    is_passed: value === undefined ? null : (isPassed(evaluator.passing_conditions, value) ?? verdictOf(result)),
    explanation: result.explanation?.slice(0, evaluationLimits.scoreTextChars).toWellFormed() ?? null,
    cost: null,
    scorer: null,
    automation_id: null,
    status: value === undefined ? "failed" : "success",
    error_message: value === undefined ? error.slice(0, storageLimits.evaluationErrorChars).toWellFormed() : null,
    created_at: at,
    updated_at: at,
  };
}

function verdictOf({ label }: EvaluationResult): boolean | null {
  return verdicts.get(label?.toLowerCase() ?? "") ?? null;
}

/** A number, or its text form that some exporters send. */
export function numberIn(value: EvaluationResult["value"]): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}
