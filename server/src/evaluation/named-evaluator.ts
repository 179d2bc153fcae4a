import { hash, randomUUID } from "node:crypto";
import { defaultEvalClass, type Evaluator, type ScoreValueType } from "../domain/evaluator.ts";
import { canBeSlug } from "../domain/naming.ts";
import type { EvaluationResult } from "../ingest/otlp/evaluation-events.ts";
import { limits } from "../limits.ts";
import { numberIn } from "./score-of-result.ts";

/** The slug by which results of this name find their evaluator: the name itself where it can be one. */
export function slugOfName(name: string): string {
  const slug = name
    .replace(/[^\w.-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, limits.identifierChars);
  if (slug === "") return `evaluation-${hash("sha256", name, "hex").slice(0, 12)}`;
  return canBeSlug(slug) ? slug : `evaluation-${slug}`;
}

/** The evaluator of which a result is the first; undefined where the result has no value that would tell of which kind. */
export function evaluatorNamed(
  unique_organization_id: string,
  evaluator_slug: string,
  result: EvaluationResult,
  at: string,
): Evaluator | undefined {
  const score_value_type = valueTypeOf(result);
  if (score_value_type === undefined) return undefined;
  return {
    id: randomUUID(),
    unique_organization_id,
    evaluator_slug,
    name: result.name,
    description: "Made for results that came over OTLP.",
    // Nothing of ours evaluates: scores are brought.
    type: "human",
    score_value_type,
    eval_class: defaultEvalClass("human"),
    score_config: {},
    passing_conditions: null,
    llm_config: null,
    code_config: null,
    rule_config: null,
    tags: [],
    starred: false,
    created_at: at,
    updated_at: at,
  };
}

function valueTypeOf({ value, label }: EvaluationResult): ScoreValueType | undefined {
  if (typeof value === "boolean") return "boolean";
  if (numberIn(value) !== undefined) return "numerical";
  return label === undefined ? undefined : "text";
}
