import type { Evaluator, Score } from "./score-queries.ts";

/** A score as text. */
export function scoreText(score: Score): string {
  if (score.status === "failed") return "failed";
  if (score.numerical_value !== null) {
    return score.score_value_type === "percentage" ? `${score.numerical_value}%` : String(score.numerical_value);
  }
  if (score.boolean_value !== null) return score.boolean_value ? "true" : "false";
  if (score.categorical_value !== null) return score.categorical_value.join(", ");
  return score.string_value ?? score.json_value ?? "";
}

export type ScoreForm =
  | { kind: "number"; min: number | undefined; max: number | undefined }
  | { kind: "choices"; names: string[]; areSeveral: boolean }
  | { kind: "boolean" }
  | { kind: "text" };

/** The kind of input for an evaluator's value. */
export function formOf({
  score_value_type,
  score_config,
}: Pick<Evaluator, "score_value_type" | "score_config">): ScoreForm {
  const { min_score, max_score, choices = [] } = score_config;
  switch (score_value_type) {
    case "numerical":
      return { kind: "number", min: min_score, max: max_score };
    case "percentage":
      return { kind: "number", min: 0, max: 100 };
    case "boolean":
      return { kind: "boolean" };
    case "single_select":
    case "multi_select":
      return {
        kind: "choices",
        names: choices.map(({ name }) => name),
        areSeveral: score_value_type === "multi_select",
      };
    case "json":
    case "text":
    default:
      return { kind: "text" };
  }
}

/** The input that corresponds to the value of a score. */
export function enteredOf(score: Score): string[] {
  const { numerical_value: number, boolean_value: flag, categorical_value: names } = score;
  if (names !== null) return names;
  const value = number ?? flag ?? score.string_value ?? score.json_value;
  return value === null ? [] : [String(value)];
}

/** The member of a score for the input; undefined if nothing was entered. */
export function enteredValue(
  { score_value_type }: Pick<Evaluator, "score_value_type">,
  entered: readonly string[],
): Record<string, unknown> | undefined {
  const [text = ""] = entered;
  if (text.trim() === "") return undefined;
  switch (score_value_type) {
    case "numerical":
    case "percentage":
      return Number.isFinite(Number(text)) ? { numerical_value: Number(text) } : undefined;
    case "boolean":
      return { boolean_value: text === "true" };
    case "single_select":
    case "multi_select":
      return { categorical_value: [...entered] };
    case "json":
      return { json_value: text };
    case "text":
    default:
      return { string_value: text };
  }
}
