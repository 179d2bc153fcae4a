import type { EvaluatorType, ScoreValueType } from "./evaluator.ts";
import type { Environment } from "./principal.ts";

/** The value of a score, in the member that its value type names; the others are null. */
export type ScoreValue = {
  /** `numerical` and `percentage`. */
  numerical_value: number | null;
  string_value: string | null;
  boolean_value: boolean | null;
  /** Names of the choices: one for `single_select`. */
  categorical_value: string[] | null;
  /** JSON text. */
  json_value: string | null;
};

export const noValue: ScoreValue = {
  numerical_value: null,
  string_value: null,
  boolean_value: null,
  categorical_value: null,
  json_value: null,
};

/** The result of one evaluator for one log: at most one each. */
export type Score = ScoreValue & {
  id: string;
  unique_organization_id: string;
  environment: Environment;
  /** `unique_id` of the log. */
  log_id: string;
  evaluator_id: string;
  /** The evaluator's values at the time of the score. */
  evaluator_slug: string;
  evaluator_name: string;
  type: EvaluatorType;
  score_value_type: ScoreValueType;
  /** Null if the evaluator has no passing conditions. */
  is_passed: boolean | null;
  explanation: string | null;
  /** USD of the judge's calls; null if there was none or its price is unknown. */
  cost: number | null;
  /** The person who scored, if any. */
  scorer: string | null;
  /** The automation that made it; null for scores over the API. */
  automation_id: string | null;
  /** A `failed` score has an `error_message` and no value. */
  status: "success" | "failed";
  error_message: string | null;
  created_at: string;
  updated_at: string;
};

/** As text, for filters: numbers, true and false; several choices and JSON as JSON text. */
export function scoreText(score: ScoreValue): string | undefined {
  if (score.numerical_value !== null) return String(score.numerical_value);
  if (score.boolean_value !== null) return String(score.boolean_value);
  if (score.string_value !== null) return score.string_value;
  if (score.categorical_value !== null) {
    const [only, ...more] = score.categorical_value;
    return only !== undefined && more.length === 0 ? only : JSON.stringify(score.categorical_value);
  }
  return score.json_value ?? undefined;
}

/** As a number, for averages and sorting: true is 1, false 0; null if the value is not a number. */
export function scoreNumber(score: ScoreValue): number | null {
  if (score.boolean_value !== null) return score.boolean_value ? 1 : 0;
  return score.numerical_value;
}
