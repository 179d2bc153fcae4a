import type { SpanRow } from "../domain/span.ts";
import type { Score } from "../domain/score.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import { evaluationsIn, type EvaluationResult } from "../ingest/otlp/evaluation-events.ts";
import { evaluationLimits } from "./limits.ts";
import type { ControlStores, ControlStoreSet } from "../storage/control/control-stores.ts";
import { evaluatorsNamed, slugOfName } from "./named-evaluator.ts";
import { scoreOfResult } from "./score-of-result.ts";

export type SentScoresDeps = {
  stores: Pick<ControlStores, "transaction">;
  /** Called with the number of results per outcome. */
  count: (outcome: "scored" | "failed" | "known" | "left_out", results: number) => void;
  /** Called when there are new scores. */
  wake: () => void;
  now: () => number;
};

type Sent = { row: SpanRow; result: EvaluationResult; slug: string };

/**
 * Creates scores from the evaluation results that arrive on spans. The evaluator is found by name, or created, as
 * customers are. A span has one score per evaluator: the first result counts, however often it is sent.
 */
export function createSentScores({ stores, count, wake, now }: SentScoresDeps): SpanSubscriber {
  return {
    name: "sent_scores",
    wants: () => true,
    concerns: ({ metadata }) => evaluationsIn(metadata).length > 0,
    async consume(batch) {
      for (const [organizationId, parts] of Map.groupBy(batch, (part) => part.organizationId)) {
        const found = parts.flatMap(({ rows }) => rows.map((row) => ({ row, results: evaluationsIn(row.metadata) })));
        const sent = found.flatMap(({ row, results }) =>
          results
            .slice(0, evaluationLimits.scoresSentPerSpan)
            .map((result): Sent => ({ row, result, slug: slugOfName(result.name) })),
        );
        if (sent.length === 0) continue;
        const { made, added } = await stores.transaction((set) => record(set, organizationId, sent, now()));
        const all = found.reduce((sum, { results }) => sum + results.length, 0);
        const failed = added.filter(({ status }) => status === "failed").length;
        count("scored", added.length - failed);
        count("failed", failed);
        count("known", made - added.length);
        count("left_out", all - made);
        if (added.length > 0) wake();
      }
    },
  };
}

async function record(
  set: ControlStoreSet,
  organizationId: string,
  sent: readonly Sent[],
  nowMs: number,
): Promise<{ made: number; added: readonly Score[] }> {
  const at = new Date(nowMs).toISOString();
  const evaluators = await evaluatorsNamed(set, organizationId, { results: sent, at });
  const scores = sent.flatMap(({ row, slug, result }) => {
    const evaluator = evaluators.get(slug);
    return evaluator === undefined ? [] : [scoreOfResult(row, evaluator, result, at)];
  });
  return { made: scores.length, added: await set.scores.add(scores, nowMs) };
}
