import { judgeLogMethod } from "../domain/span.ts";
import { randomUUID } from "node:crypto";
import type { Evaluator, LlmConfig } from "../domain/evaluator.ts";
import { noValue, type Score } from "../domain/score.ts";
import { evaluationLimits } from "./limits.ts";
import { storageLimits } from "../storage/limits.ts";
import type { AutomationStore } from "../storage/control/automation-store.ts";
import type { EvaluationRun } from "../storage/control/evaluation-run-store.ts";
import type { StoredSpan } from "../storage/spans/span-store.ts";
import type { ActiveAutomations } from "./active-automations.ts";
import type { Evaluate, EvaluationFailure, EvaluationOutcome } from "./evaluate.ts";
import { inputsOf, type EvaluationInputs } from "./evaluation-inputs.ts";
import type { JudgeBudget, JudgementEntry } from "./judge-budget.ts";

/** The result of one claim of a run. `error` is shown on the automation. */
export type RunResult = { run: EvaluationRun; costUsd: number | null; error?: string } & (
  | { kind: "scored" | "failed"; score: Score }
  /** `isRefused`: there was no room to start it. */
  | { kind: "retried"; isRefused?: boolean }
  /** There is no log to evaluate, or no evaluator or automation for it. */
  | { kind: "dropped" }
  | { kind: "over_budget" }
);

export type RunDeps = {
  evaluate: Evaluate;
  activeAutomations: Pick<ActiveAutomations, "find">;
  automations: Pick<AutomationStore, "find">;
  judgeBudget: Pick<JudgeBudget, "enter" | "made">;
  /** The highest cost of a judge in USD; null if unknown. */
  judgeCostUsd: JudgeCost;
  /** USD per day if the automation does not state a budget. */
  dailyBudgetUsd: number;
  /** The delays between tries. After the last one, a failure is final. */
  retryDelaysMs: readonly number[];
  now: () => number;
};

export type JudgeCost = (
  judge: { evaluator: Evaluator; config: LlmConfig },
  inputs: EvaluationInputs,
  of: { organizationId: string; signal: AbortSignal },
) => Promise<number | null>;

/** Makes one attempt. Rejects only when a store fails. */
export async function runEvaluation(
  deps: RunDeps,
  run: EvaluationRun,
  { span, evaluator, signal }: { span: StoredSpan | undefined; evaluator: Evaluator | undefined; signal: AbortSignal },
): Promise<RunResult> {
  const dropped: RunResult = { kind: "dropped", run, costUsd: null };
  const automation = await activeAutomation(deps, run);
  if (automation === undefined || evaluator === undefined || evaluator.type === "human") return dropped;
  const failed = (outcome: EvaluationFailure): RunResult => ({
    kind: "failed",
    run,
    score: scoreOf(run, evaluator, outcome, new Date(deps.now()).toISOString()),
    costUsd: outcome.costUsd,
    error: outcome.error,
  });
  if (!mayBeTried(run)) return failed(endedNodes(run));
  const mayRetry = run.attempts <= deps.retryDelaysMs.length;
  // Another node may be about to store it; a deleted one stays absent.
  if (span === undefined) return mayRetry ? { kind: "retried", run, costUsd: null } : dropped;
  if (span.log_method === judgeLogMethod) return dropped;
  const inputs = inputsOf(span);
  const budgetUsd = automation.configuration.daily_budget ?? deps.dailyBudgetUsd;
  const request = await requestOf(deps, run, { evaluator, inputs, budgetUsd, signal });
  if (request !== undefined) {
    const entry = await deps.judgeBudget.enter(request, signal);
    if (entry === "stopped") return { kind: "retried", run, costUsd: null };
    if (entry === "spent") {
      return { kind: "over_budget", run, costUsd: null, error: "The daily budget of this automation is spent." };
    }
  }
  const { organizationId, environment } = { organizationId: run.unique_organization_id, environment: run.environment };
  const outcome = await deps.evaluate(evaluator, inputs, { organizationId, environment, signal }).finally(() => {
    if (request !== undefined) deps.judgeBudget.made(request);
  });
  if (signal.aborted && !outcome.ok) return { kind: "retried", run, costUsd: outcome.costUsd };
  if (!outcome.ok && (outcome.isRefused || (outcome.isTransient && mayRetry))) {
    const { costUsd, error, isRefused = false } = outcome;
    return { kind: "retried", run, costUsd, error, isRefused };
  }
  if (!outcome.ok) return failed(outcome);
  const score = scoreOf(run, evaluator, outcome, new Date(deps.now()).toISOString());
  return { kind: "scored", run, score, costUsd: outcome.costUsd };
}

/** A run that ends its node every time would end the next one too. */
export function mayBeTried({ crashes }: EvaluationRun): boolean {
  return crashes < evaluationLimits.evaluationCrashes;
}

function endedNodes({ crashes }: EvaluationRun): EvaluationFailure {
  const error = `the server ended ${crashes} times while it made this evaluation`;
  return { ok: false, error, isTransient: false, costUsd: null };
}

/** Changes on other nodes arrive with a delay, so an unknown automation is read from the store. */
async function activeAutomation({ activeAutomations, automations }: RunDeps, run: EvaluationRun) {
  const known = activeAutomations.find(run.automation_id);
  if (known !== undefined) return known;
  const found = await automations.find(run.unique_organization_id, run.automation_id);
  return found?.is_enabled === true ? found : undefined;
}

/** The amount to reserve if a model judges. */
async function requestOf(
  { judgeCostUsd }: RunDeps,
  run: EvaluationRun,
  judgement: { evaluator: Evaluator; inputs: EvaluationInputs; budgetUsd: number; signal: AbortSignal },
): Promise<JudgementEntry | undefined> {
  const { evaluator, inputs, budgetUsd, signal } = judgement;
  const { llm_config: config } = evaluator;
  if (evaluator.type !== "llm" || config === null) return undefined;
  const { automation_id: automationId, id: runId, attempts: attempt, unique_organization_id: organizationId } = run;
  const costUsd = await judgeCostUsd({ evaluator, config }, inputs, { organizationId, signal });
  return { automationId, runId, attempt, most: micro(costUsd ?? 0), budget: budgetUsd * microUsd };
}

const microUsd = 1_000_000;

/** Whole micro-dollars, rounded up. */
export function micro(usd: number): number {
  return Math.ceil(usd * microUsd);
}

export function dayOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 10);
}

function scoreOf(run: EvaluationRun, evaluator: Evaluator, outcome: EvaluationOutcome, now: string): Score {
  return {
    ...(outcome.ok ? outcome.value : noValue),
    id: randomUUID(),
    unique_organization_id: run.unique_organization_id,
    environment: run.environment,
    log_id: run.log_id,
    evaluator_id: evaluator.id,
    evaluator_slug: evaluator.evaluator_slug,
    evaluator_name: evaluator.name,
    type: evaluator.type,
    score_value_type: evaluator.score_value_type,
    is_passed: outcome.ok ? outcome.isPassed : null,
    explanation: outcome.ok ? outcome.explanation : null,
    cost: outcome.costUsd,
    scorer: null,
    automation_id: run.automation_id,
    status: outcome.ok ? "success" : "failed",
    error_message: outcome.ok ? null : outcome.error.slice(0, storageLimits.evaluationErrorChars),
    created_at: now,
    updated_at: now,
  };
}
