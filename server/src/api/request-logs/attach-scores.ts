import { scoreNumber, type Score } from "../../domain/score.ts";
import { pick } from "../../lib/pick.ts";
import type { ScoreStore } from "../../storage/control/score-store.ts";
import type { StoredSpan } from "../../storage/spans/span-store.ts";
import type { ScoredStoredSpan } from "./span-member.ts";

/** Adds scores to spans, from the control store, where they are current. */
export async function attachScores(
  scores: Pick<ScoreStore, "listOfLogs">,
  organizationId: string,
  spans: readonly StoredSpan[],
): Promise<ScoredStoredSpan[]> {
  const all = await scores.listOfLogs(
    organizationId,
    spans.map((span) => span.unique_id),
  );
  const byLog = Map.groupBy(all, (score) => score.log_id);
  return spans.map((span) => ({ ...span, scores: scoresMember(byLog.get(span.unique_id) ?? []) }));
}

/** Keyed by evaluator id. `score_value` is the value as a number, booleans as 0 and 1. */
function scoresMember(scores: readonly Score[]): string {
  const members = scores.map((score) => {
    const shown = { ...pick(score, ...shownMembers), score_value: scoreNumber(score) };
    return [score.evaluator_id, shown] as const;
  });
  return JSON.stringify(Object.fromEntries(members));
}

const shownMembers = [
  "id",
  "evaluator_id",
  "evaluator_slug",
  "evaluator_name",
  "score_value_type",
  "numerical_value",
  "string_value",
  "boolean_value",
  "categorical_value",
  "json_value",
  "is_passed",
  "explanation",
  "status",
  "error_message",
] as const;
