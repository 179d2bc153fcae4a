import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Evaluator } from "../domain/evaluator.ts";
import { FairShare, type SharedLimit } from "../lib/fair-share.ts";
import { evaluationLimits } from "./limits.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { EvaluationRun } from "../storage/control/evaluation-run-store.ts";
import type { SpanStore, StoredSpan } from "../storage/spans/span-store.ts";
import { createFinisher } from "./finish-runs.ts";
import { createJudgeBudget, type JudgeBudget } from "./judge-budget.ts";
import { readLogs } from "./read-logs.ts";
import { dayOf, mayBeTried, runEvaluation, type RunDeps, type RunResult } from "./run-evaluation.ts";

/**
 * Processes the queue of evaluations, with a limit per organisation and in total, and in turns, so that the backlog of
 * one organisation does not delay the others. Several nodes share one queue.
 */
export type Runner = {
  /** Reports the number of new runs. */
  wake(added: number): void;
  /** Runs in flight. */
  limit(): SharedLimit;
  /** Aborts runs in flight, and releases those that are not done. */
  stop(): Promise<void>;
};

export type RunnerDeps = Omit<RunDeps, "automations" | "judgeBudget"> & {
  stores: ControlStores;
  spans: Pick<SpanStore, "hydrateSpans" | "findSpan">;
  /** Called with each result once it is stored. */
  finished: (result: RunResult) => void;
  logger: Logger;
  /** Identifies this node, also after a restart. */
  owner: string;
};

export async function startRunner(deps: RunnerDeps): Promise<Runner> {
  await deps.stores.evaluationRuns.recover(new Date(deps.now()).toISOString(), deps.owner);
  await chargeLapsed(deps);
  return new QueueRunner(deps);
}

class QueueRunner implements Runner {
  readonly #deps: RunnerDeps;
  readonly #stopping = new AbortController();
  readonly #inFlight = new FairShare(evaluationLimits.evaluationRunsInFlight);
  readonly #batches = new Set<Promise<void>>();
  readonly #judgeBudget: JudgeBudget;
  readonly #finisher: ReturnType<typeof createFinisher>;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #running: Promise<void>;
  /** Runs in flight that may crash this node. */
  readonly #suspects = new Set<number>();
  /** The organisation that was served last. */
  #turn = "";
  #isWoken = true;
  /** New runs of about one second. */
  #arrivals = { sinceMs: 0, runs: 0 };
  #crowdedUntilMs = 0;
  /** Judgements in flight and not yet stored, by log and evaluator: several automations may have the same evaluator. */
  readonly #judging = new Map<string, Promise<RunResult>>();
  #wake = (): void => undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    const { signal } = this.#stopping;
    // Each run that waits for its turn adds a listener.
    setMaxListeners(0, signal);
    this.#judgeBudget = createJudgeBudget((request) =>
      deps.stores.transaction(({ judgementLedger }) => judgementLedger.reserve({ ...request, day: dayOf(deps.now()) })),
    );
    this.#finisher = createFinisher({
      ...deps,
      signal,
      finished: (results) => this.#finished(results),
      inFlight: () => this.#inFlight.inUse,
    });
    this.#heartbeat = setInterval(() => void this.#renew(), evaluationLimits.evaluationLeaseMs / 3).unref();
    this.#running = this.#loop();
  }

  wake(added: number): void {
    const nowMs = this.#deps.now();
    if (nowMs - this.#arrivals.sinceMs > 1_000) this.#arrivals = { sinceMs: nowMs, runs: 0 };
    this.#arrivals.runs += added;
    if (this.#arrivals.runs > evaluationLimits.evaluationCrowdRuns)
      this.#crowdedUntilMs = nowMs + evaluationLimits.evaluationYieldMs;
    this.#wakeUp();
  }

  limit(): SharedLimit {
    return this.#inFlight;
  }

  #wakeUp(): void {
    this.#isWoken = true;
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error("the server stops"));
    clearInterval(this.#heartbeat);
    this.#wake();
    await this.#running;
    await Promise.all(this.#batches);
    await this.#finisher.settled();
    const { stores, owner, now } = this.#deps;
    await stores.evaluationRuns.release(owner, new Date(now()).toISOString());
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#isWoken = false;
      try {
        const claimed = await this.#claimRound();
        if (this.#isCrowded()) await sleep(evaluationLimits.evaluationYieldMs, undefined, { signal });
        else if (claimed === 0 && !this.#isWoken) await this.#pause();
      } catch (error) {
        if (signal.aborted) return;
        this.#deps.logger.warn({ err: error }, "evaluations could not be claimed; retrying");
        await sleep(evaluationLimits.evaluationPollMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Whether logs arrive faster than they can be evaluated: then evaluation must not slow down ingest. */
  #isCrowded(): boolean {
    return this.#deps.now() < this.#crowdedUntilMs;
  }

  /** Waits until something is enqueued or finished here. Due retries and runs of other nodes are found by polling. */
  async #pause(): Promise<void> {
    const timer = setTimeout(() => this.#wake(), evaluationLimits.evaluationPollMs).unref();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#isWoken || this.#stopping.signal.aborted) resolve();
    });
    clearTimeout(timer);
  }

  /** Gives each organisation a turn, while there is room. */
  async #claimRound(): Promise<number> {
    const { stores, owner, now } = this.#deps;
    let claimed = await this.#claimSuspects();
    let isFromStart = this.#turn === "";
    while (this.#inFlight.inUse < evaluationLimits.evaluationRunsInFlight && !this.#stopping.signal.aborted) {
      const organization = await stores.evaluationRuns.nextOrganization(this.#turn);
      this.#turn = organization ?? "";
      if (organization === undefined && isFromStart) break;
      if (organization === undefined) {
        isFromStart = true;
        continue;
      }
      const limit = this.#roomOf(organization);
      if (limit === 0) continue;
      const nowMs = now();
      const runs = await stores.evaluationRuns.claim({
        uniqueOrganizationId: organization,
        owner,
        now: new Date(nowMs).toISOString(),
        leaseUntil: new Date(nowMs + evaluationLimits.evaluationLeaseMs).toISOString(),
        limit,
      });
      claimed += runs.length;
      this.#start(organization, runs);
    }
    return claimed;
  }

  /** Claims a few at a time and then one alone, until it is clear which of them crashes nodes. */
  async #claimSuspects(): Promise<number> {
    const { stores, owner, now } = this.#deps;
    if (this.#suspects.size > 0 || this.#stopping.signal.aborted) return 0;
    const nowMs = now();
    const runs = await stores.evaluationRuns.claimSuspects({
      owner,
      now: new Date(nowMs).toISOString(),
      leaseUntil: new Date(nowMs + evaluationLimits.evaluationLeaseMs).toISOString(),
      limit: (crashes) => (crashes === 1 ? evaluationLimits.evaluationSuspects : 1),
    });
    for (const { id } of runs) this.#suspects.add(id);
    for (const [organization, group] of Map.groupBy(runs, (run) => run.unique_organization_id)) {
      this.#start(organization, group);
    }
    return runs.length;
  }

  /** Small claims cost as much as large ones, so room accumulates before it is used. */
  #roomOf(organization: string): number {
    const busy = this.#inFlight.usedBy(organization);
    const most = this.#isCrowded()
      ? evaluationLimits.evaluationReadRows
      : evaluationLimits.evaluationRunsPerOrganization;
    const room = Math.min(most - busy, this.#inFlight.available(organization));
    if (room <= 0) this.#inFlight.note("waited");
    return room > 0 && (busy === 0 || room * 2 >= most) ? room : 0;
  }

  #start(organization: string, runs: readonly EvaluationRun[]): void {
    if (runs.length === 0) return;
    this.#inFlight.acquire(organization, runs.length);
    const batch = this.#runBatch(organization, runs).finally(() => this.#batches.delete(batch));
    this.#batches.add(batch);
  }

  /** Works in portions, of which only one has its logs in memory. */
  async #runBatch(organization: string, runs: readonly EvaluationRun[]): Promise<void> {
    for (let start = 0; start < runs.length; start += evaluationLimits.evaluationReadRows) {
      await this.#runPortion(organization, runs.slice(start, start + evaluationLimits.evaluationReadRows));
    }
  }

  async #runPortion(organization: string, runs: readonly EvaluationRun[]): Promise<void> {
    const { stores, spans, logger } = this.#deps;
    const { signal } = this.#stopping;
    try {
      signal.throwIfAborted();
      const evaluatorIds = [...new Set(runs.map((run) => run.evaluator_id))];
      const [evaluators, logs, scores] = await Promise.all([
        stores.evaluators.findAll(organization, evaluatorIds),
        readLogs(spans, organization, runs.filter(mayBeTried), signal),
        stores.scores.scored(organization, [...new Set(runs.map((run) => run.log_id))]),
      ]);
      const byId = new Map(evaluators.map((evaluator) => [evaluator.id, evaluator]));
      const isScored = new Set(scores.map(judgementOf));
      await Promise.all(
        runs.map(async (run) => {
          const result = isScored.has(judgementOf(run))
            ? dropped(run)
            : await this.#judgeOnce(run, logs.get(run.log_id), byId.get(run.evaluator_id));
          this.#finisher.add(result);
        }),
      );
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, "a batch of evaluations could not be read; retrying");
      for (const run of runs) this.#finisher.add({ kind: "retried", run, costUsd: null });
    }
  }

  /** Waits for the same judgement of another automation, and makes its own only if that produced no score. */
  async #judgeOnce(run: EvaluationRun, ...log: [span?: StoredSpan, evaluator?: Evaluator]): Promise<RunResult> {
    const key = judgementOf(run);
    for (let other = this.#judging.get(key); other !== undefined; other = this.#judging.get(key)) {
      if (isScore(await other)) return dropped(run);
    }
    const judgement = this.#run(run, ...log);
    this.#judging.set(key, judgement);
    const result = await judgement;
    // A score stays until it is stored, where the next batch finds it.
    if (!isScore(result)) this.#judging.delete(key);
    return result;
  }

  async #run(run: EvaluationRun, span?: StoredSpan, evaluator?: Evaluator): Promise<RunResult> {
    const deps = { ...this.#deps, automations: this.#deps.stores.automations, judgeBudget: this.#judgeBudget };
    try {
      return await runEvaluation(deps, run, { span, evaluator, signal: this.#stopping.signal });
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        this.#deps.logger.warn({ err: error }, "an evaluation failed with an internal error; retrying");
      return { kind: "retried", run, costUsd: null };
    }
  }

  #finished(results: readonly RunResult[]): void {
    for (const result of results) {
      this.#inFlight.release(result.run.unique_organization_id, 1);
      if (isScore(result)) this.#judging.delete(judgementOf(result.run));
      this.#suspects.delete(result.run.id);
      this.#deps.finished(result);
    }
    for (const id of new Set(results.map(({ run }) => run.automation_id))) this.#judgeBudget.recorded(id);
    this.#wakeUp();
  }

  async #renew(): Promise<void> {
    const { stores, owner, now, logger } = this.#deps;
    try {
      if (this.#inFlight.inUse > 0)
        await stores.evaluationRuns.renew(owner, new Date(now() + evaluationLimits.evaluationLeaseMs).toISOString());
      await stores.evaluationRuns.recover(new Date(now()).toISOString());
      await chargeLapsed(this.#deps);
    } catch (error) {
      logger.warn({ err: error }, "the lease of evaluations could not be renewed; another node may take them over");
    }
  }
}

/** Judgements of a dead node count with their full reservations, because nobody knows whether they were paid. */
async function chargeLapsed({ stores, now, logger }: RunnerDeps): Promise<void> {
  const at = new Date(now()).toISOString();
  const microUsd = await stores.transaction(({ judgementLedger }) => judgementLedger.chargeLapsed(at));
  if (microUsd > 0) logger.warn({ microUsd }, "judgements ended with their node; their reserved cost counts as spent");
}

/** A log has one score per key. */
function judgementOf({ log_id, evaluator_id }: Pick<EvaluationRun, "log_id" | "evaluator_id">): string {
  return `${log_id} ${evaluator_id}`;
}

function isScore({ kind }: RunResult): boolean {
  return kind === "scored" || kind === "failed";
}

function dropped(run: EvaluationRun): RunResult {
  return { kind: "dropped", run, costUsd: null };
}
