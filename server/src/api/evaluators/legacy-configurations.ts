import type { EvaluatorDefinition, LlmConfig, ScoreChoice, ScoreConfig } from "../../domain/evaluator.ts";
import { isObject } from "../../lib/json.ts";

/**
 * The older form, in which one object `configurations` held the judge, its model and the scale:
 * `evaluator_definition, scoring_rubric, llm_engine, model_options, min_score, max_score, passing_score`.
 */
export function readLegacyConfigurations(
  configurations: Record<string, unknown>,
  choices: ScoreChoice[] | undefined,
): {
  llm_config?: LlmConfig;
  score_config?: ScoreConfig;
  passing_conditions?: EvaluatorDefinition["passing_conditions"];
} {
  const {
    evaluator_definition: prompt,
    llm_engine: model,
    scoring_rubric: rubric,
    model_options: options,
  } = configurations;
  const { min_score: min, max_score: max, passing_score: passing } = configurations;
  const scale: ScoreConfig = {
    ...(typeof min === "number" && { min_score: min }),
    ...(typeof max === "number" && { max_score: max }),
    ...(choices !== undefined && { choices }),
  };
  const temperature = isObject(options) ? options["temperature"] : undefined;
  return {
    ...(typeof prompt === "string" &&
      typeof model === "string" && {
        llm_config: {
          model,
          evaluator_definition: prompt,
          ...(typeof rubric === "string" && { scoring_rubric: rubric }),
          ...(typeof temperature === "number" && { temperature }),
        },
      }),
    ...(Object.keys(scale).length > 0 && { score_config: scale }),
    ...(typeof passing === "number" && { passing_conditions: { primary_score: { operator: "gte", value: passing } } }),
  };
}
