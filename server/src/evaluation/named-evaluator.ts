import { hash, randomUUID } from "node:crypto";
import { defaultEvalClass, type Evaluator, type ScoreValueType } from "../domain/evaluator.ts";
import { canBeSlug } from "../domain/naming.ts";
import { domainLimits } from "../domain/limits.ts";
import { evaluationLimits } from "./limits.ts";
import type { ControlStoreSet } from "../storage/control/control-stores.ts";
import { numberIn } from "./score-of-result.ts";
import type { EvaluationResult } from "./sent-scores.ts";

/** The slug of the evaluator for results with this name: the name itself if it is a valid slug. */
export function slugOfName(name: string): string {
  const slug = name
    .replace(/[^\w.-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, domainLimits.identifierChars);
  if (slug === "") return `evaluation-${hash("sha256", name, "hex").slice(0, 12)}`;
  return canBeSlug(slug) ? slug : `evaluation-${slug}`;
}

/** Finds the evaluators of results by slug, and creates missing ones up to the limit. Call it in a transaction. */
export async function evaluatorsNamed(
  { evaluators: store, organizations }: Pick<ControlStoreSet, "evaluators" | "organizations">,
  organizationId: string,
  { results, at }: { results: ReadonlyArray<{ slug: string; result: EvaluationResult }>; at: string },
): Promise<ReadonlyMap<string, Evaluator>> {
  const slugs = [...new Set(results.map(({ slug }) => slug))];
  const find = async () => {
    const found = await store.findBySlugs(organizationId, slugs);
    return new Map(found.map((evaluator) => [evaluator.evaluator_slug, evaluator]));
  };
  let evaluators = await find();
  if (evaluators.size < slugs.length) {
    // Another request may be creating them: look again under the lock.
    await organizations.lock(organizationId);
    evaluators = await find();
  }
  let room =
    evaluators.size < slugs.length ? evaluationLimits.evaluatorsMadeByName - (await store.count(organizationId)) : 0;
  for (const { slug, result } of results) {
    const evaluator = evaluators.has(slug) || room <= 0 ? undefined : evaluatorNamed(organizationId, slug, result, at);
    if (evaluator === undefined) continue;
    evaluators.set(slug, await store.create(evaluator));
    room -= 1;
  }
  return evaluators;
}

/** The evaluator for the first result of its name; undefined if the result has no value that determines its type. */
function evaluatorNamed(
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
    description: "Made for results of evaluations elsewhere.",
    // Scores come from outside: this server never runs the evaluator.
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
