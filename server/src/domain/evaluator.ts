import { productFamilies } from "./product-families.ts";

/**
 * - `llm`: a model judges, called through this gateway.
 * - `code`: JavaScript of the organization, in a sandbox.
 * - `rule`: one of the built-in rules.
 * - `human`: people score over the API; nothing runs.
 */
export const evaluatorTypes = ["llm", "human", "code", "rule"] as const;
export type EvaluatorType = (typeof evaluatorTypes)[number];

export const scoreValueTypes = [
  "numerical",
  "boolean",
  "percentage",
  "single_select",
  "multi_select",
  "json",
  "text",
] as const;
export type ScoreValueType = (typeof scoreValueTypes)[number];

/** Older names of score value types. */
export const legacyScoreValueTypes: Readonly<Record<string, ScoreValueType>> = {
  categorical: "single_select",
  comment: "text",
};

export const evalClasses = [
  ...productFamilies.flatMap((family) => [`${family}_custom_evaluator`, `${family}_custom_llm`]),
  "custom_code",
] as const;

export function defaultEvalClass(type: EvaluatorType): string {
  return type === "code" ? "custom_code" : "svc_custom_evaluator";
}

export type ScoreChoice = { name: string; value?: string | number | undefined };

export type ScoreConfig = {
  min_score?: number | undefined;
  max_score?: number | undefined;
  /** The choices of `single_select` and `multi_select`; a score holds the `name`. */
  choices?: ScoreChoice[] | undefined;
};

export type LlmConfig = {
  model: string;
  /** The prompt: `{{input}}`, `{{output}}`, `{{expected_output}}`, `{{metrics.x}}`, `{{metadata.x}}` are replaced. */
  evaluator_definition: string;
  scoring_rubric?: string | undefined;
  temperature?: number | undefined;
  max_tokens?: number | undefined;
  top_p?: number | undefined;
  frequency_penalty?: number | undefined;
  presence_penalty?: number | undefined;
  stop?: string | string[] | undefined;
  verbosity?: string | undefined;
};

export type CodeConfig = {
  /** JavaScript with `main(eval_inputs)`, which returns the score or a promise of it. */
  eval_code_snippet: string;
};

/** The text of the log that a rule checks. */
export const ruleTargets = ["output", "input"] as const;

export type RuleConfig = { target?: (typeof ruleTargets)[number] | undefined } & (
  | { rule: "regex"; pattern: string; flags?: string | undefined }
  | { rule: "json_schema"; schema: Record<string, unknown> }
  | {
      rule: "contains";
      text: string | string[];
      case_sensitive?: boolean | undefined;
      match?: "any" | "all" | undefined;
    }
  | { rule: "similarity"; expected?: string | undefined }
);

/** Everything that a version of an evaluator freezes. */
export type EvaluatorDefinition = {
  name: string;
  description: string;
  type: EvaluatorType;
  score_value_type: ScoreValueType;
  eval_class: string;
  score_config: ScoreConfig;
  /** `{primary_score: {operator, value}}` in the filter language; null: scores are neither passed nor failed. */
  passing_conditions: Record<string, unknown> | null;
  llm_config: LlmConfig | null;
  code_config: CodeConfig | null;
  rule_config: RuleConfig | null;
  tags: string[];
};

export type Evaluator = EvaluatorDefinition & {
  id: string;
  unique_organization_id: string;
  /** Unique in the organization; cannot be changed. */
  evaluator_slug: string;
  starred: boolean;
  created_at: string;
  updated_at: string;
};

/** A frozen definition. Versions count from 1; the evaluator itself, which runs, is the draft, version 0. */
export type EvaluatorVersion = {
  version_id: string;
  evaluator_id: string;
  version: number;
  version_description: string;
  definition: EvaluatorDefinition;
  created_at: string;
};
