import { Script } from "node:vm";
import type { EvaluatorDefinition, LlmConfig, ScoreValueType } from "../domain/evaluator.ts";
import type { FieldErrors } from "../domain/errors.ts";
import { domainLimits } from "../domain/limits.ts";
import { httpLimits } from "../http/limits.ts";
import { compilePassing } from "./passing.ts";
import { unknownPlaceholders } from "./template.ts";

/** Errors of an evaluator as a whole, by field; empty if it can run. */
export function definitionErrors(definition: EvaluatorDefinition): FieldErrors {
  const errors: FieldErrors = {};
  const { type, score_value_type: valueType, score_config: scores, passing_conditions: passing } = definition;
  if (type === "llm" && definition.llm_config === null) errors["llm_config"] = ["an llm evaluator needs llm_config"];
  if (type === "llm" && definition.llm_config !== null) Object.assign(errors, promptErrors(definition.llm_config));
  if (type === "code" && definition.code_config === null)
    errors["code_config"] = ["a code evaluator needs code_config"];
  if (type === "code" && definition.code_config !== null) {
    const problem = syntaxError(definition.code_config.eval_code_snippet);
    if (problem !== undefined) errors["code_config.eval_code_snippet"] = [`is not JavaScript: ${problem}`];
  }
  if (type === "rule" && definition.rule_config === null) errors["rule_config"] = ["a rule needs rule_config"];
  if (type === "rule" && definition.rule_config !== null) {
    const fitting = ruleValueTypes(definition.rule_config.rule);
    if (!fitting.includes(valueType)) {
      errors["score_value_type"] = [`the rule ${definition.rule_config.rule} gives ${fitting.join(" or ")}`];
    }
  }
  if (scores.min_score !== undefined && scores.max_score !== undefined && scores.min_score >= scores.max_score) {
    errors["score_config"] = ["min_score must be below max_score"];
  }
  if (isSelect(valueType) && (scores.choices ?? []).length === 0) {
    errors["score_config"] = [`${valueType} needs score_config.choices`];
  }
  if (passing !== null) {
    const problem = compilePassing(passing);
    if (!problem.ok) errors["passing_conditions"] = [problem.error];
  }
  return errors;
}

/** A placeholder that no input can fill would be empty in every prompt. */
function promptErrors(config: LlmConfig): FieldErrors {
  const errors: FieldErrors = {};
  for (const member of ["evaluator_definition", "scoring_rubric"] as const) {
    const unknown = unknownPlaceholders(config[member] ?? "").slice(0, httpLimits.unknownMembersNamed);
    if (unknown.length === 0) continue;
    const names = unknown.map((name) => `{{${name.slice(0, domainLimits.identifierChars)}}}`).join(", ");
    errors[`llm_config.${member}`] = [
      `unknown placeholder ${names}: use {{input}}, {{output}}, {{expected_output}}, {{metadata.key}} or {{metrics.key}}`,
    ];
  }
  return errors;
}

/** Only parses the code, so that code in another language fails here and not log by log. */
function syntaxError(code: string): string | undefined {
  try {
    void new Script(code);
    return undefined;
  } catch (error) {
    return error instanceof SyntaxError ? error.message : undefined;
  }
}

function ruleValueTypes(rule: "regex" | "json_schema" | "contains" | "similarity"): ScoreValueType[] {
  return rule === "similarity" ? ["numerical", "percentage"] : ["boolean"];
}

function isSelect(type: ScoreValueType): boolean {
  return type === "single_select" || type === "multi_select";
}
