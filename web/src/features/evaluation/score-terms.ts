import type { Operator, Term } from "../../query-bar/query.ts";
import { draftOf, type Evaluator } from "./draft.ts";

export const hasScore = (slug: string): Term => ({ type: "has", field: `scores__${slug}`, negated: false });

const opposites: Readonly<Record<string, Operator>> = { gte: "lt", gt: "lte", lte: "gt", lt: "gte" };

/** Selects the scores of an evaluator that did not pass; undefined if every score passes or no query can express it. */
function failedTerms(evaluator: Evaluator): Term[] | undefined {
  const { evaluator_slug: slug, score_value_type: type } = evaluator;
  const { passes, passesAt } = draftOf(evaluator);
  if (passes === "none" || passes === "kept") return undefined;
  const term = { type: "field", field: `scores__${slug}`, values: [passesAt], negated: false } as const;
  const opposite = opposites[passes];
  if (opposite !== undefined) return [{ ...term, operator: opposite }];
  if (type === "boolean") return [{ ...term, operator: "is", values: [passesAt === "true" ? "false" : "true"] }];
  return [hasScore(slug), { ...term, operator: "is", negated: true }];
}

/** The scores to read first: scores that did not pass, or false scores of an evaluator without a passing condition. */
export function worstScores(evaluator: Evaluator): { name: string; terms: Term[] } | undefined {
  const failed = failedTerms(evaluator);
  if (failed !== undefined) return { name: "Not passed", terms: failed };
  if (evaluator.score_value_type !== "boolean") return undefined;
  const field = `scores__${evaluator.evaluator_slug}`;
  return { name: "False", terms: [{ type: "field", field, operator: "is", values: ["false"], negated: false }] };
}
