import { hash } from "node:crypto";
import type { Logger } from "pino";
import { scoreNumber, scoreText, type Score } from "../domain/score.ts";
import { startReplicator, type Replicator } from "../storage/replicator.ts";
import { evaluationLimits } from "./limits.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { ScoreStore, UnreplicatedScore } from "../storage/control/score-store.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";

export type ScoreReplicator = Replicator;

export type ScoreReplicatorDeps = {
  scores: Pick<ScoreStore, "unreplicated">;
  stores: Pick<ControlStores, "transaction">;
  spans: Pick<SpanStore, "insert">;
  logger: Logger;
  /** Identifies this node's inserts. */
  nodeId: string;
  /** Called with new scores, at least once each: if it throws, they are passed again. */
  publish: (scores: readonly Score[]) => Promise<void>;
  onFailure: () => void;
  now: () => number;
};

/**
 * Copies scores from the control store, which is authoritative, to the span store, where lists filter, order and
 * average by them. A change is marked until its copy is written; writing it twice changes nothing.
 */
export function startScoreReplicator(deps: ScoreReplicatorDeps): ScoreReplicator {
  return startReplicator({
    copyBatch: (signal) => copyBatch(deps, signal),
    onFailure(error) {
      deps.onFailure();
      deps.logger.warn({ err: error }, "scores could not be copied to the span store; retrying");
    },
    retryMs: evaluationLimits.scoreReplicationRetryMs,
    everyMs: evaluationLimits.scoreReplicationEveryMs,
    groupMs: evaluationLimits.scoreReplicationGroupMs,
  });
}

/** Returns whether there may be more. */
async function copyBatch(
  { scores, stores, spans, publish, nodeId, now }: ScoreReplicatorDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const batch = await scores.unreplicated(evaluationLimits.scoreReplicationRows);
  if (batch.length === 0) return false;
  const ndjson = Buffer.from(batch.map((change) => `${JSON.stringify(copyOf(change))}\n`).join(""));
  // A hash of the content: after a crash, the same first change may come in another batch, which must not count as a
  // duplicate.
  const token = `${nodeId}:scores:${hash("sha256", ndjson, "hex")}`;
  await spans.insert({ ndjson, rows: batch.length, token, table: "scores" }, signal);
  await publish(batch.flatMap(({ score }) => (score?.created_at === score?.updated_at ? (score ?? []) : [])));
  await stores.transaction((set) => set.scores.markReplicated(batch, now()));
  return batch.length === evaluationLimits.scoreReplicationRows;
}

/** One row of the table `scores`. A score without a value replaces one that had it. */
function copyOf({ unique_organization_id, log_id, evaluator_id, revision, score }: UnreplicatedScore) {
  const key = {
    organization_id: unique_organization_id,
    unique_id: log_id,
    evaluator_id,
    version: String(BigInt(revision)),
  };
  const text = score && scoreText(score);
  if (score === undefined || text === undefined) return { ...key, is_deleted: 1 };
  const { environment, evaluator_slug, evaluator_name, score_value_type, is_passed, created_at } = score;
  return {
    ...key,
    is_deleted: 0,
    environment,
    evaluator_slug,
    evaluator_name,
    score_value_type,
    text,
    value: scoreNumber(score),
    is_passed,
    created_at: created_at.replace("T", " ").replace("Z", ""),
  };
}
