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

/** As text, which filters compare: numbers, true and false, choices and JSON as JSON text. */
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
