import type { Evaluator } from "../domain/evaluator.ts";
import { noValue, type ScoreValue } from "../domain/score.ts";
import { isObject } from "../lib/json.ts";
import { evaluationLimits } from "./limits.ts";

export type ScoreReading = { ok: true; value: ScoreValue; explanation: string | null } | { ok: false; error: string };

type Reader = (raw: unknown, evaluator: Pick<Evaluator, "score_value_type" | "score_config">) => ScoreValue | string;

/** Each reader returns the value, or an error message as text. */
const readers: Record<Evaluator["score_value_type"], Reader> = {
  numerical: (raw, { score_config }) => number(raw, score_config.min_score, score_config.max_score),
  percentage: (raw, { score_config }) => number(raw, score_config.min_score ?? 0, score_config.max_score ?? 100),
  boolean: (raw) => (typeof raw === "boolean" ? { ...noValue, boolean_value: raw } : "must be true or false"),
  text: (raw) => (typeof raw === "string" ? text(raw) : "must be text"),
  single_select: (raw, evaluator) => {
    const names = Array.isArray(raw) ? (raw as unknown[]) : [raw];
    return names.length === 1 ? choices(names, evaluator) : "must be one choice";
  },
  multi_select: (raw, evaluator) => (Array.isArray(raw) ? choices(raw, evaluator) : "must be a list of choices"),
  json: (raw) => json(raw),
};

/**
 * Converts the returned value of an evaluator to its value type. The value may also be wrapped as `{score,
 * explanation}`, which is the form of a judge's answer.
 */
export function readScoreValue(
  evaluator: Pick<Evaluator, "score_value_type" | "score_config">,
  returned: unknown,
): ScoreReading {
  const isWrapped = isObject(returned) && Object.hasOwn(returned, "score");
  const raw = isWrapped ? returned["score"] : returned;
  const explanation = isWrapped ? returned["explanation"] : undefined;
  const value = readers[evaluator.score_value_type](raw, evaluator);
  if (typeof value === "string") return { ok: false, error: `a score that is ${evaluator.score_value_type} ${value}` };
  return {
    ok: true,
    value,
    explanation: typeof explanation === "string" ? explanation.slice(0, evaluationLimits.scoreTextChars) : null,
  };
}

function number(
  raw: unknown,
  min: number = -evaluationLimits.scoreMax,
  max: number = evaluationLimits.scoreMax,
): ScoreValue | string {
  if (typeof raw !== "number" || !Number.isFinite(raw)) return "must be a number";
  return raw >= min && raw <= max ? { ...noValue, numerical_value: raw } : `must be from ${min} to ${max}`;
}

function text(raw: string): ScoreValue | string {
  return raw.length <= evaluationLimits.scoreTextChars
    ? { ...noValue, string_value: raw }
    : `may have ${evaluationLimits.scoreTextChars} characters`;
}

function choices(raw: readonly unknown[], { score_config }: Pick<Evaluator, "score_config">): ScoreValue | string {
  const known = (score_config.choices ?? []).map(({ name }) => name);
  const names = [...new Set(raw)].filter((name): name is string => typeof name === "string" && known.includes(name));
  if (names.length === new Set(raw).size) return { ...noValue, categorical_value: names };
  return `must be of ${known
    .map((name) => JSON.stringify(name))
    .join(", ")
    .slice(0, 500)}`;
}

function json(raw: unknown): ScoreValue | string {
  const written = JSON.stringify(raw);
  if (written === undefined) return "must be JSON";
  return written.length <= evaluationLimits.scoreTextChars
    ? { ...noValue, json_value: written }
    : `may have ${evaluationLimits.scoreTextChars} characters`;
}
