import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { evaluatorTypes, scoreValueTypes, type Evaluator } from "../../domain/evaluator.ts";
import { environments } from "../../domain/principal.ts";
import { noValue, type Score, type ScoreValue } from "../../domain/score.ts";
import { isPassed } from "../../evaluation/passing.ts";
import { readScoreValue } from "../../evaluation/read-score-value.ts";
import { evaluationLimits } from "../../evaluation/limits.ts";
import { httpLimits } from "../../http/limits.ts";
import { omit } from "../../lib/omit.ts";

const text = z.string().max(evaluationLimits.scoreTextChars);

/** A score has the member of its evaluator's value type; the others are null or absent. */
const valueMembers = {
  numerical_value: z.number().nullish().meta({ description: "For numerical and percentage." }),
  string_value: text.nullish().meta({ description: "Of text." }),
  boolean_value: z.boolean().nullish(),
  categorical_value: z.array(text).nullish().meta({ description: "Names of choices: exactly one for single_select." }),
  json_value: z.unknown().optional().meta({ description: "For json: a value, or JSON text." }),
};

export const scoreChangeSchema = z.object({
  ...valueMembers,
  explanation: text.nullish(),
  is_passed: z.boolean().nullish().meta({ description: "Default: the result of the evaluator's passing_conditions." }),
  scorer: z.string().max(httpLimits.nameChars).nullish().meta({ description: "Who scored." }),
});

export const newScoreSchema = z.object({
  ...scoreChangeSchema.shape,
  evaluator_id: z.string().optional().meta({ description: "Or evaluator_slug." }),
  evaluator_slug: z.string().optional(),
});

export type SentScore = z.output<typeof scoreChangeSchema>;

export const scoreSchema = z
  .object({
    id: z.string(),
    log_id: z.string().meta({ description: "unique_id of the log." }),
    environment: z.enum(environments),
    evaluator_id: z.string(),
    evaluator_slug: z.string(),
    evaluator_name: z.string(),
    type: z.enum(evaluatorTypes),
    score_value_type: z.enum(scoreValueTypes),
    numerical_value: z.number().nullable(),
    string_value: z.string().nullable(),
    boolean_value: z.boolean().nullable(),
    categorical_value: z.array(z.string()).nullable(),
    json_value: z.string().nullable().meta({ description: "JSON text." }),
    is_passed: z.boolean().nullable(),
    explanation: z.string().nullable(),
    cost: z.number().nullable().meta({ description: "USD of the judge's calls." }),
    scorer: z.string().nullable(),
    automation_id: z.string().nullable(),
    status: z.enum(["success", "failed"]),
    error_message: z.string().nullable().meta({ description: "Why there is no value." }),
    created_at: z.string().meta({ format: "date-time" }),
    updated_at: z.string().meta({ format: "date-time" }),
  })
  .meta({ id: "Score" });

export function presentScore(score: Score): z.input<typeof scoreSchema> {
  return omit(score, "unique_organization_id");
}

type ScoringEvaluator = Pick<Evaluator, "score_value_type" | "score_config" | "passing_conditions">;
type ValueParts = Pick<Score, keyof ScoreValue | "is_passed" | "explanation" | "scorer" | "status" | "error_message">;

const memberOf: Record<Evaluator["score_value_type"], keyof ScoreValue> = {
  numerical: "numerical_value",
  percentage: "numerical_value",
  boolean: "boolean_value",
  text: "string_value",
  single_select: "categorical_value",
  multi_select: "categorical_value",
  json: "json_value",
};

/** The value sent for an evaluator. @throws ServiceError `invalid_request` keyed by its member */
export function readSentScore(evaluator: ScoringEvaluator, sent: SentScore): ValueParts {
  const member = memberOf[evaluator.score_value_type];
  const other = Object.keys(noValue).find((name) => name !== member && (asMembers(sent)[name] ?? null) !== null);
  if (other !== undefined) throw invalid(other, `this evaluator's scores have ${member} instead`);
  const raw = asMembers(sent)[member] ?? undefined;
  if (raw === undefined) throw invalid(member, `${member} is required`);
  const reading = readScoreValue(evaluator, { score: member === "json_value" ? jsonOf(raw) : raw });
  if (!reading.ok) throw invalid(member, reading.error);
  return {
    ...reading.value,
    is_passed: sent.is_passed ?? isPassed(evaluator.passing_conditions, reading.value),
    explanation: sent.explanation ?? null,
    scorer: sent.scorer ?? null,
    status: "success",
    error_message: null,
  };
}

/** JSON text is parsed; other text is taken as it is. */
function jsonOf(raw: unknown): unknown {
  if (typeof raw !== "string") return raw;
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    return raw;
  }
}

/** Zod returns the members of the schema, by name. */
function asMembers(sent: SentScore): Record<string, unknown> {
  return sent;
}

function invalid(field: string, message: string): ServiceError {
  return new ServiceError("invalid_request", message, { errors: { [field]: [message] } });
}

export function scoreNotFound(): ServiceError {
  return new ServiceError("not_found", "There is no such score.");
}
