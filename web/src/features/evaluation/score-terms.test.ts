import { expect, test } from "vitest";
import { printQuery } from "../../query-bar/print-query.ts";
import type { Evaluator } from "./draft.ts";
import { worstScores } from "./score-terms.ts";

test.each([
  ["boolean", undefined, "score.tone:false"],
  ["numerical", undefined, undefined],
  ["numerical", { operator: "gte", value: 3 }, "score.tone<3"],
  ["percentage", { operator: "lt", value: 50 }, "score.tone>=50"],
  ["boolean", { value: true }, "score.tone:false"],
  ["single_select", { operator: "equals", value: "good" }, "has:score.tone -score.tone:good"],
  ["single_select", { operator: "in", value: ["good", "fair"] }, undefined],
] as const)("the worst of %s scores, of which %j pass, are %s", (score_value_type, primary_score, query) => {
  const passing_conditions = { primary_score };
  const evaluator = { evaluator_slug: "tone", score_value_type, score_config: {}, passing_conditions };
  const terms = worstScores(evaluator as unknown as Evaluator)?.terms;
  expect(terms && printQuery(terms)).toBe(query);
});
