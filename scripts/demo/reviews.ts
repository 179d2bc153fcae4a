import { companies } from "./companies.ts";
import { seededRandom } from "./seeded-random.ts";
import { call, type Row } from "./call.ts";
import type { Target } from "./send-spans.ts";
import type { SpanBody } from "./to-spans.ts";

/** One answer in this many is reviewed. */
const reviewedEvery = 6;
const notes = [
  "Cites the rule word for word. A good example.",
  "Correct, but should say where to send the note.",
  "The table is easy to read.",
  "Should have asked for the dates first.",
  "Too long for a question that is answered by yes or no.",
];

const evaluators = [
  { name: "Helpfulness", evaluator_slug: "demo-helpfulness", score_value_type: "numerical" },
  { name: "Follows the policy", evaluator_slug: "demo-follows-policy", score_value_type: "boolean" },
] as const;

/**
 * Adds what people add to stored spans: scores, notes and pins on answers of the travel desk, and the budgets of its
 * customers. The same in every run; existing scores are kept.
 */
export async function review(target: Target, spans: readonly SpanBody[]): Promise<{ reviewed: number }> {
  const answers = spans.filter(({ span_name: name }) => name === "answer");
  const chosen = answers.filter((_, index) => index % reviewedEvery === 0).map((span) => span.span_unique_id);
  const ids = await findIds(target, chosen);
  await makeEvaluators(target);
  const marks = chosen.flatMap((id) => {
    const logId = ids.get(id);
    return logId === undefined ? [] : [{ logId, ...markOf(id) }];
  });
  for (const { logId, helpfulness, follows } of marks) {
    const score = (body: Row) => call(target, "POST", `/api/logs/${logId}/scores/`, body, [409]);
    await score({ evaluator_slug: evaluators[0].evaluator_slug, numerical_value: helpfulness, scorer: "kim" });
    await score({ evaluator_slug: evaluators[1].evaluator_slug, boolean_value: follows, scorer: "kim" });
  }
  const noted = marks.slice(0, notes.length).map(({ logId }, index) => ({
    unique_id: logId,
    note: notes[index],
    is_pinned: index === 0,
    metadata: { reviewed_by: "kim" },
  }));
  await call(target, "PATCH", "/api/request-logs/batch-update/", { logs: noted });
  for (const { id, budgetUsd, markupPercentage = 0 } of companies) {
    const budget = budgetUsd === undefined ? {} : { period_budget: budgetUsd, budget_duration: "monthly" };
    await call(target, "PATCH", `/api/users/${id}/`, { ...budget, markup_percentage: markupPercentage });
  }
  return { reviewed: marks.length };
}

function markOf(id: string): { helpfulness: number; follows: boolean } {
  const random = seededRandom(id);
  return { helpfulness: Math.min(5, 2 + Math.floor(random() ** 0.6 * 4)), follows: random() < 0.9 };
}

/** The server's ids of spans, by their own. */
async function findIds(target: Target, ids: readonly string[]): Promise<Map<string, string>> {
  const path = `/api/request-logs/list/?start_time=2020-01-01&page_size=${ids.length}&include_fields=span_unique_id`;
  const { results } = (await call(target, "POST", path, {
    filters: { span_unique_id: { value: ids } },
  })) as { results: Row[] };
  return new Map(results.map((row) => [String(row["span_unique_id"]), String(row["unique_id"])]));
}

async function makeEvaluators(target: Target): Promise<void> {
  for (const { score_value_type, ...evaluator } of evaluators) {
    const path = "/api/evaluators/";
    const { results } = (await call(target, "GET", `${path}?search=${evaluator.evaluator_slug}`)) as { results: Row[] };
    if (results.length > 0) continue;
    const isNumber = score_value_type === "numerical";
    const config = isNumber
      ? {
          score_config: { min_score: 1, max_score: 5 },
          passing_conditions: { primary_score: { operator: "gte", value: 3 } },
        }
      : {};
    await call(target, "POST", path, { ...evaluator, type: "human", score_value_type, ...config });
  }
}
