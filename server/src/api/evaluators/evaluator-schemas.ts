import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import {
  defaultEvalClass,
  evalClasses,
  evaluatorTypes,
  legacyScoreValueTypes,
  scoreValueTypes,
  type Evaluator,
  type EvaluatorDefinition,
  type EvaluatorVersion,
} from "../../domain/evaluator.ts";
import { validate } from "../../http/validate.ts";
import { definitionErrors } from "../../evaluation/read-definition.ts";
import { omit } from "../../lib/omit.ts";
import { apiLimits } from "../limits.ts";
import { httpLimits } from "../../http/limits.ts";
import { slugSchema } from "../conditions/condition-schemas.ts";
import { nameSchema } from "../organizations/schemas.ts";
import { codeConfig, llmConfig, ruleConfig, scoreConfig } from "./config-schemas.ts";
import { legacyConfigurations, readLegacyConfigurations } from "./legacy-configurations.ts";

const passing = z
  .record(z.string(), z.unknown())
  .nullable()
  .meta({
    description: "`{primary_score: {operator, value}}` in the filter language; decides is_passed.",
    examples: [{ primary_score: { operator: "gte", value: 0.5 } }],
  });

const changeable = {
  name: nameSchema,
  description: z.string().max(httpLimits.nameChars),
  score_config: scoreConfig,
  passing_conditions: passing,
  llm_config: llmConfig.nullable(),
  code_config: codeConfig.nullable(),
  rule_config: ruleConfig.nullable(),
  eval_class: z.enum(evalClasses),
  starred: z.boolean(),
  tags: z.array(z.string().max(httpLimits.nameChars)).max(apiLimits.evaluatorTags),
};

const legacy = {
  configurations: legacyConfigurations.optional().meta({
    deprecated: true,
    description: "Older form of llm_config, score_config and passing_conditions.",
  }),
  categorical_choices: scoreConfig.shape.choices.meta({
    deprecated: true,
    description: "Older form of score_config.choices.",
  }),
};

const scoreValueType = z
  .string()
  .transform((type) => legacyScoreValueTypes[type] ?? type)
  .pipe(z.enum(scoreValueTypes))
  .meta({ enum: [...scoreValueTypes, ...Object.keys(legacyScoreValueTypes)] });

export const newEvaluatorSchema = z.object({
  ...z.object(changeable).partial().shape,
  ...legacy,
  name: nameSchema,
  type: z.enum(evaluatorTypes),
  score_value_type: scoreValueType,
  evaluator_slug: slugSchema.optional().meta({
    description: "Default: the name with a random suffix. Cannot be changed.",
  }),
});

export const evaluatorExample = {
  name: "Helpfulness",
  evaluator_slug: "helpfulness",
  type: "llm",
  score_value_type: "numerical",
  score_config: { min_score: 1, max_score: 5 },
  passing_conditions: { primary_score: { operator: "gte", value: 4 } },
  llm_config: {
    model: "gpt-4o-mini",
    evaluator_definition: "A customer wrote: {{input}} The answer was: {{output}} How helpful is it, from 1 to 5?",
  },
};

export const evaluatorChangeSchema = z.object({
  ...z.object(changeable).partial().shape,
  ...legacy,
  type: z.enum(evaluatorTypes).optional(),
  score_value_type: scoreValueType.optional(),
});

const definitionShape = { ...changeable, type: z.enum(evaluatorTypes), score_value_type: z.enum(scoreValueTypes) };

export const evaluatorSchema = z
  .object({
    ...definitionShape,
    eval_class: z.string(),
    id: z.string(),
    evaluator_slug: z.string(),
    version_id: z.string().meta({ description: "The id of the version, or of the evaluator itself." }),
    version: z
      .int()
      .meta({ description: "0 is the evaluator itself, which automations run and which can be changed." }),
    version_description: z.string(),
    is_read_only: z.boolean(),
    created_at: z.string().meta({ format: "date-time" }),
    updated_at: z.string().meta({ format: "date-time" }),
  })
  .meta({ id: "Evaluator" });

/** Includes members that older clients send back with an evaluator, which have no effect. */
export const shownEvaluator = evaluatorSchema.extend({
  created_by: z.unknown(),
  updated_by: z.unknown(),
  editor: z.unknown(),
});

export function presentEvaluator(evaluator: Evaluator): z.input<typeof evaluatorSchema> {
  const shown = omit(evaluator, "unique_organization_id");
  return { ...shown, version_id: evaluator.id, version: 0, version_description: "", is_read_only: false };
}

export function presentVersion(
  { id, evaluator_slug, starred }: Evaluator,
  { definition, version_id, version, version_description, created_at }: EvaluatorVersion,
): z.input<typeof evaluatorSchema> {
  const frozen = { version_id, version, version_description, is_read_only: true, created_at, updated_at: created_at };
  return { ...definition, id, evaluator_slug, starred, ...frozen };
}

type Identity = Pick<EvaluatorDefinition, "name" | "type" | "score_value_type">;

/** The members that every evaluator must state, because they have no default. */
export function identityOf({ name, type, score_value_type }: Identity): Identity {
  return { name, type, score_value_type };
}

type Sent = z.output<typeof evaluatorChangeSchema>;

/** The sent members on top of `base`. @throws ServiceError `invalid_request` keyed by field if the result cannot run */
export function readDefinition(base: Identity & Partial<EvaluatorDefinition>, sent: Sent): EvaluatorDefinition {
  const older = readLegacyConfigurations(sent.configurations ?? {}, sent.categorical_choices, base.llm_config);
  const type = sent.type ?? base.type;
  const definition: EvaluatorDefinition = {
    name: sent.name ?? base.name,
    description: sent.description ?? base.description ?? "",
    type,
    score_value_type: sent.score_value_type ?? base.score_value_type,
    eval_class: sent.eval_class ?? base.eval_class ?? defaultEvalClass(type),
    score_config: sent.score_config ?? older.score_config ?? base.score_config ?? {},
    passing_conditions: firstGiven(sent.passing_conditions, older.passing_conditions, base.passing_conditions),
    llm_config: firstGiven(sent.llm_config, older.llm_config, base.llm_config),
    code_config: firstGiven(sent.code_config, base.code_config),
    rule_config: firstGiven(sent.rule_config, base.rule_config),
    tags: sent.tags ?? base.tags ?? [],
  };
  // The merged result must be valid as a new evaluator too.
  validate(newEvaluatorSchema, definition);
  const errors = definitionErrors(definition);
  const [first] = Object.values(errors).flat();
  if (first !== undefined) throw new ServiceError("invalid_request", first, { errors });
  return definition;
}

function firstGiven<T>(...values: Array<T | null | undefined>): T | null {
  return values.find((value) => value !== undefined) ?? null;
}

export function evaluatorNotFound(): ServiceError {
  return new ServiceError("not_found", "There is no such evaluator.");
}
