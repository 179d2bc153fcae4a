import { z } from "zod";
import type { EvaluatorDefinition, LlmConfig, ScoreChoice, ScoreConfig } from "../../domain/evaluator.ts";
import { definedFields } from "../../lib/defined-fields.ts";
import { sampling, text } from "./config-schemas.ts";

/** The older form, in which one object `configurations` contained the judge, its model and the scale. */
export const legacyConfigurations = z.strictObject({
  evaluator_definition: text.optional(),
  scoring_rubric: text.optional(),
  llm_engine: text.optional(),
  model_options: z.strictObject(sampling).optional(),
  min_score: z.number().optional(),
  max_score: z.number().optional(),
  passing_score: z.number().optional(),
});

const judgeMembers = ["evaluator_definition", "scoring_rubric", "llm_engine", "model_options"] as const;

export function readLegacyConfigurations(
  configurations: z.output<typeof legacyConfigurations>,
  choices: ScoreChoice[] | undefined,
  before: LlmConfig | null | undefined,
): {
  llm_config?: LlmConfig;
  score_config?: ScoreConfig;
  passing_conditions?: EvaluatorDefinition["passing_conditions"];
} {
  const { scoring_rubric, model_options = {} } = configurations;
  const hasJudge = judgeMembers.some((member) => configurations[member] !== undefined);
  // Members of the judge that are not sent stay unchanged; for a new judge they are missing.
  const model = configurations.llm_engine ?? before?.model;
  const evaluator_definition = configurations.evaluator_definition ?? before?.evaluator_definition;
  const { min_score, max_score, passing_score: passing } = configurations;
  const scale: ScoreConfig = definedFields({ min_score, max_score, choices });
  return {
    ...(hasJudge &&
      evaluator_definition !== undefined &&
      model !== undefined && {
        llm_config: { ...before, model, evaluator_definition, ...definedFields({ scoring_rubric, ...model_options }) },
      }),
    ...(Object.keys(scale).length > 0 && { score_config: scale }),
    ...(passing !== undefined && { passing_conditions: { primary_score: { operator: "gte", value: passing } } }),
  };
}
