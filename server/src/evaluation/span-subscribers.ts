import { hash } from "node:crypto";
import type { Score } from "../domain/score.ts";
import { judgeLogMethod, type SpanRow } from "../domain/span.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import type { QueueCapacity } from "../ingest/fan-out/queue-capacity.ts";
import { evaluationsIn, type EvaluationResult } from "../ingest/otlp/evaluation-events.ts";
import type { ControlStores, ControlStoreSet } from "../storage/control/control-stores.ts";
import type { NewRun } from "../storage/control/evaluation-run-store.ts";
import { storedTime } from "../lib/time.ts";
import type { ActiveAutomations } from "./active-automations.ts";
import { evaluationLimits } from "./limits.ts";
import { evaluatorsNamed, slugOfName } from "./named-evaluator.ts";
import { scoreOfResult } from "./score-of-result.ts";

/**
 * Consumes stored logs and records which of them automations evaluate. Logs arrive at least once and in several
 * versions. A run is identified by its automation, evaluator and log, so each is evaluated once: when a version of it
 * first matches. Logs of evaluators are ignored.
 */
export function createRunQueue(deps: {
  activeAutomations: ActiveAutomations;
  stores: Pick<ControlStores, "transaction">;
  room: Pick<QueueCapacity, "isFull" | "added">;
  /** Called with the number of new runs. */
  wake: (added: number) => void;
  now: () => number;
}): SpanSubscriber {
  const { activeAutomations, stores, room, wake, now } = deps;
  return {
    name: "evaluation",
    wants: (organizationId) => activeAutomations.wants(organizationId),
    isFull: (organizationId) => room.isFull(organizationId),
    started(readAgain) {
      activeAutomations.watch(({ unique_organization_id: organizationId, updated_at }) =>
        readAgain({ organizationId, from: timeOfMs(Date.parse(updated_at)), to: timeOfMs(now()) }),
      );
    },
    async consume(batch) {
      const wanted = batch.flatMap(({ rows }) => rows.flatMap((row) => runsOf(row, activeAutomations)));
      if (wanted.length === 0) return;
      try {
        const at = new Date(now()).toISOString();
        const added = await stores.transaction(({ evaluationRuns }) => evaluationRuns.enqueue(wanted, at));
        for (const [organizationId, runs] of added) room.added(organizationId, runs);
        const all = added.values().reduce((sum, runs) => sum + runs, 0);
        if (all > 0) wake(all);
      } catch (error) {
        // An automation may be deleted on another node: the retried batch is matched with the remaining ones.
        await activeAutomations.refresh();
        throw error;
      }
    },
  };
}

const timeOfMs = (ms: number): string => storedTime(BigInt(ms) * 1_000_000n);

function runsOf(row: SpanRow, activeAutomations: ActiveAutomations): NewRun[] {
  if (row.log_method === judgeLogMethod) return [];
  return activeAutomations
    .of(row.organization_id, row.environment)
    .filter(
      ({ id, configuration, matches }) => isSampled(row.unique_id, id, configuration.sampling_rate) && matches(row),
    )
    .flatMap(({ id, evaluator_ids }) =>
      evaluator_ids.map((evaluator_id) => ({
        automation_id: id,
        evaluator_id,
        log_id: row.unique_id,
        unique_organization_id: row.organization_id,
        environment: row.environment,
        log_timestamp: row.timestamp,
      })),
    );
}

const sampleSpace = 2 ** 48;

/**
 * Depends only on the ids, so that the result is the same on every node, for every version of a log, and after a crash.
 */
export function isSampled(logId: string, automationId: string, rate: number): boolean {
  if (rate >= 1) return true;
  if (rate <= 0) return false;
  const digest = hash("sha256", `${automationId}\n${logId}`, "hex");
  return Number.parseInt(digest.slice(0, 12), 16) / sampleSpace < rate;
}

type SentScoresDeps = {
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
