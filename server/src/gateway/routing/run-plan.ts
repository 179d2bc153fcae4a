import { gatewayLimits } from "../limits.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import type { CoolDown } from "./cool-down.ts";
import type { Attempt, Outcome, Plan, PlanStep, RoutingParams } from "./plan.ts";

/** One model of a call, with all credentials that may be used for it, best first; never empty. */
export type PlannedModel = { model: string; attempts: readonly Attempt[] };

export type PlanDeps = {
  coolDown: CoolDown;
  now: () => number;
  random: () => number;
  /** Rejects with the signal's reason. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  onRetry?: (kind: "retry" | "fallback") => void;
};

/** The other 2 % compensate for late timers. */
const usedOfRoom = 0.98;

/** Runs through the models of a call, best first. Models with only cooling credentials come last. */
export function runPlan(
  plannedModels: readonly PlannedModel[],
  policy: RetryPolicy,
  deps: PlanDeps,
  signal: AbortSignal,
): Plan {
  const ready = plannedModels.filter((planned) =>
    planned.attempts.some(({ credentialId }) => deps.coolDown.isReady(credentialId)),
  );
  const order =
    ready.length === plannedModels.length
      ? plannedModels
      : [...ready, ...plannedModels.filter((planned) => !ready.includes(planned))];
  const walk = new PlanWalk(order, policy, deps, signal);
  return {
    models: order.map(({ model }) => model),
    hasManyKeys: false,
    first: order[0]?.attempts ?? [],
    next: (problem) => walk.next(problem),
    problem: (last) => walk.problem(last),
    report: (attempt, outcome) => deps.coolDown.report(attempt.credentialId, outcomeOf(outcome)),
  };
}

/** A request that was never sent says nothing about the credential. */
function outcomeOf(outcome: Outcome): Outcome {
  return typeof outcome === "object" && outcome.isUnsent === true ? "aborted" : outcome;
}

const unanswered: UpstreamProblem = { kind: "busy", status: 408, message: "The provider did not answer in time." };

/** The progress of a call through its plan. */
class PlanWalk {
  /** The first problem that was not the request's fault, and the first that was. */
  #outage: UpstreamProblem | undefined;
  #refusal: UpstreamProblem | undefined;

  readonly #plannedModels: readonly PlannedModel[];
  readonly #policy: RetryPolicy;
  readonly #deps: PlanDeps;
  readonly #signal: AbortSignal;
  readonly #deadlineMs: number;
  #modelIndex = 0;
  /** Attempts started on this model, and how many of them had to wait. */
  #tries = 0;
  #waits = 0;
  #delayMs = 0;
  /** Credentials with which this model was called. */
  readonly #tried = new Set<Attempt>();
  /** Credentials that the provider rejected. */
  readonly #dead = new Set<Attempt>();
  #current: Attempt | undefined;
  #isOver = false;

  constructor(plannedModels: readonly PlannedModel[], policy: RetryPolicy, deps: PlanDeps, signal: AbortSignal) {
    this.#plannedModels = plannedModels;
    this.#policy = policy;
    this.#deps = deps;
    this.#signal = signal;
    this.#deadlineMs = deps.now() + gatewayLimits.routeDeadlineMs;
  }

  next(problem: UpstreamProblem | undefined): PlanStep | undefined | Promise<PlanStep | undefined> {
    const attempt = problem === undefined ? this.#atOnce() : undefined;
    return attempt === undefined ? this.#goOn(problem) : this.#step(attempt, 0);
  }

  /** The attempt that can begin now, synchronously, as most can: awaiting it would cost a turn of the event loop. */
  #atOnce(): Attempt | undefined {
    const { coolDown } = this.#deps;
    this.#signal.throwIfAborted();
    if (this.#delayMs > 0 || this.#isOver || this.#tried.size > 0 || this.#isLate()) return undefined;
    const attempt = this.#plannedModels[this.#modelIndex]?.attempts.find(({ credentialId }) =>
      coolDown.isReady(credentialId),
    );
    if (attempt === undefined || coolDown.enter(attempt.credentialId) !== "go") return undefined;
    this.#take(attempt);
    return attempt;
  }

  async #goOn(problem: UpstreamProblem | undefined): Promise<PlanStep | undefined> {
    const startedMs = this.#deps.now();
    if (problem !== undefined && this.#current !== undefined) {
      this.#deps.coolDown.report(this.#current.credentialId, outcomeOf(problem));
      this.#moveOn(problem);
    }
    while (!this.#isOver) {
      const attempt = this.#choose();
      if (this.#isLate()) this.#isOver = true;
      else if (attempt === undefined) this.#nextModel();
      else if (await this.#begin(attempt)) return this.#step(attempt, this.#deps.now() - startedMs);
    }
    return undefined;
  }

  /** The problem to respond with: the first outage. It is a refusal only if every model refused the request. */
  problem(last: UpstreamProblem | undefined): UpstreamProblem {
    const isOutage = last !== undefined && last.kind !== "request";
    return this.#outage ?? (isOutage ? last : (this.#refusal ?? last)) ?? unanswered;
  }

  #step(attempt: Attempt, waitedMs: number): PlanStep {
    const furtherModels = Math.max(0, this.#plannedModels.length - 1 - this.#modelIndex);
    const leftMs = Math.max(0, this.#deadlineMs - this.#deps.now());
    const roomMs = furtherModels === 0 ? Infinity : (leftMs * usedOfRoom) / furtherModels;
    return { attempt, waitedMs, furtherModels, roomMs };
  }

  /** Decides what follows a problem. */
  #moveOn(problem: UpstreamProblem): void {
    if (problem.kind === "request") this.#refusal ??= problem;
    else this.#outage ??= problem;
    const verdict = judge(problem);
    if (verdict === "other_model" || this.#tries > this.#policy.retries || this.#isStuck(problem)) this.#nextModel();
    else if (verdict === "other_credential") {
      if (this.#current) this.#dead.add(this.#current);
      this.#count("retry");
    } else this.#retry(problem);
  }

  /** The attempt timed out, and other models remain. */
  #isStuck({ code }: UpstreamProblem): boolean {
    return code === "timeout" && this.#modelIndex + 1 < this.#plannedModels.length;
  }

  /** No wait if another credential is untried, or if another model is ready while this one cools down. */
  #retry(problem: UpstreamProblem): void {
    if (problem.retryAfterMs === undefined && !this.#isReady(this.#usable()) && this.#isOtherReady()) {
      return this.#nextModel();
    }
    this.#count("retry");
    if (this.#untried().length > 0) return undefined;
    const delayMs = retryDelayMs(this.#policy, this.#waits, problem, this.#deps.random);
    if (delayMs === undefined || this.#deps.now() + delayMs > this.#deadlineMs) return this.#nextModel();
    this.#waits += 1;
    this.#delayMs = delayMs;
    return undefined;
  }

  #nextModel(): void {
    this.#modelIndex += 1;
    this.#tries = 0;
    this.#waits = 0;
    this.#delayMs = 0;
    this.#tried.clear();
    this.#dead.clear();
    if (this.#modelIndex >= this.#plannedModels.length) this.#isOver = true;
    else this.#count("fallback");
  }

  #isReady(attempts: readonly Attempt[]): boolean {
    return attempts.some(({ credentialId }) => this.#deps.coolDown.isReady(credentialId));
  }

  #isOtherReady(): boolean {
    return this.#plannedModels.slice(this.#modelIndex + 1).some(({ attempts }) => this.#isReady(attempts));
  }

  #usable(): Attempt[] {
    return this.#plannedModels[this.#modelIndex]?.attempts.filter((attempt) => !this.#dead.has(attempt)) ?? [];
  }

  #untried(): Attempt[] {
    return this.#usable().filter((attempt) => !this.#tried.has(attempt));
  }

  /** The best credential: untried ones first, ready ones before cooling ones, and of these the first to be ready. */
  #choose(): Attempt | undefined {
    const { coolDown } = this.#deps;
    const untried = this.#untried();
    const usable = untried.length > 0 ? untried : this.#usable();
    const ready = usable.find(({ credentialId }) => coolDown.isReady(credentialId));
    if (ready !== undefined || usable.length < 2) return ready ?? usable[0];
    const coolDownOf = ({ credentialId }: Attempt): number => coolDown.remainingMs(credentialId);
    return usable.reduce((best, attempt) => (coolDownOf(attempt) < coolDownOf(best) ? attempt : best));
  }

  /** Waits until the attempt may begin. False if it may not, and something else was decided. */
  async #begin(attempt: Attempt): Promise<boolean> {
    const { coolDown } = this.#deps;
    const coolingMs = coolDown.remainingMs(attempt.credentialId);
    // Waits for a short cool-down. A long one is ignored: one call tries right away.
    await this.#wait(Math.max(this.#delayMs, coolingMs <= gatewayLimits.coolDownWaitMs ? coolingMs : 0));
    this.#delayMs = 0;
    if (this.#isLate()) return false;
    const entry = coolDown.enter(attempt.credentialId);
    if (entry !== "go") return this.#follow(attempt, entry);
    this.#take(attempt);
    return true;
  }

  /**
   * Waits while another call probes the credential. Its failure counts as ours, so that many calls fail with one
   * attempt.
   */
  async #follow(attempt: Attempt, probe: Promise<UpstreamProblem | undefined>): Promise<false> {
    const timeout = new AbortController();
    try {
      const signal = AbortSignal.any([this.#signal, timeout.signal]);
      const late = this.#deps.sleep(gatewayLimits.probeMs, signal).then(() => undefined);
      const problem = await Promise.race([probe, late]);
      if (problem !== undefined) {
        this.#take(attempt);
        this.#moveOn(problem);
      }
      return false;
    } finally {
      timeout.abort();
    }
  }

  #take(attempt: Attempt): void {
    this.#current = attempt;
    this.#tries += 1;
    this.#tried.add(attempt);
  }

  #isLate(): boolean {
    return this.#deps.now() > this.#deadlineMs;
  }

  async #wait(ms: number): Promise<void> {
    if (ms > 0) await this.#deps.sleep(ms, this.#signal);
    this.#signal.throwIfAborted();
  }

  #count(kind: "retry" | "fallback"): void {
    this.#deps.onRetry?.(kind);
  }
}

/** `retries`: attempts of each model after its first. `baseMs`: the delay before the first retry. */
type RetryPolicy = { retries: number; baseMs: number };

const baseMs = 200;
const retriesWhereEnabled = 3;
/** No rate limit of a model takes more than a day to reset: a longer wait is a mistake. */
const absurdWaitMs = 24 * 60 * 60 * 1_000;

/** `retry_params` win over the shorthand `retries`; without either there are `gatewayLimits.defaultRetries`. */
export function readRetryPolicy(params: Pick<RoutingParams, "retry_params" | "retries">): RetryPolicy {
  const { retry_params, retries } = params;
  if (retry_params === undefined) return { retries: retries ?? gatewayLimits.defaultRetries, baseMs };
  if (!retry_params.retry_enabled) return { retries: 0, baseMs };
  return {
    retries: retry_params.num_retries ?? retriesWhereEnabled,
    baseMs: retry_params.retry_after === undefined ? baseMs : retry_params.retry_after * 1_000,
  };
}

/**
 * What to do about a problem:
 * - `other_credential`: our credential is the cause; try the same model with the next credential, else the next model.
 * - `retry`: try the same model again, later or with another credential, then the next model.
 * - `other_model`: this model will not answer, but one with a larger context, another filter or other parameters may.
 */
type Verdict = "other_credential" | "retry" | "other_model";

export function judge(problem: UpstreamProblem): Verdict {
  switch (problem.kind) {
    case "credential":
      return "other_credential";
    case "busy":
      return "retry";
    case "fault":
      return isTransient(problem.status) ? "retry" : "other_model";
    case "request":
      return ofAnotherKey.has(problem.code ?? "") ? "other_credential" : "other_model";
    default:
      return "other_model";
  }
}

/** Errors about a response, or encrypted reasoning, that another key created. */
const ofAnotherKey: ReadonlySet<string> = new Set(["previous_response_not_found", "invalid_encrypted_content"]);

/** No status (0) is a network fault; 2xx is an error within a stream or a body. */
function isTransient(status: number): boolean {
  return status < 300 || status === 408 || status === 409 || status === 429 || status >= 500;
}

/**
 * Milliseconds before retry `n` (from 0) of a model: the wait that the upstream requested plus up to a tenth, so that
 * calls that were refused together do not return together; else an exponential back-off, between half and all of its
 * value. At most `gatewayLimits.retryWaitMs`; undefined if the upstream requests more than that. Negative and
 * implausibly long waits are ignored.
 * @param random at least 0, below 1
 */
export function retryDelayMs(
  policy: RetryPolicy,
  n: number,
  problem: UpstreamProblem,
  random: () => number,
): number | undefined {
  const maxMs = gatewayLimits.retryWaitMs;
  const requestedMs = problem.retryAfterMs;
  if (requestedMs !== undefined && requestedMs >= 0 && requestedMs <= absurdWaitMs) {
    return requestedMs > maxMs ? undefined : Math.min(maxMs, requestedMs * (1 + random() / 10));
  }
  const fullMs = Math.min(maxMs, policy.baseMs * 2 ** Math.min(n, 30));
  return fullMs * (0.5 + random() / 2);
}
