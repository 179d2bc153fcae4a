import { hash, randomUUID } from "node:crypto";
import { defaultEvalClass, type Evaluator, type ScoreValueType } from "../domain/evaluator.ts";
import { canBeSlug } from "../domain/naming.ts";
import type { EvaluationResult } from "../ingest/otlp/evaluation-events.ts";
import { domainLimits } from "../domain/limits.ts";
import { evaluationLimits } from "./limits.ts";
import type { ControlStoreSet } from "../storage/control/control-stores.ts";
import { numberIn } from "./score-of-result.ts";

/** The slug by which results of this name find their evaluator: the name itself where it can be one. */
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
    // Another request may be making them: behind the lock it has.
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

/** The evaluator of which a result is the first; undefined where the result has no value that would tell of which kind. */
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
