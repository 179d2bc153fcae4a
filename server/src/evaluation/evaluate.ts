import type { Evaluator } from "../domain/evaluator.ts";
import type { ScoreValue } from "../domain/score.ts";
import { pick } from "../lib/pick.ts";
import { WorkGate } from "../lib/work-gate.ts";
import { limits } from "../limits.ts";
import type { EvaluationInputs } from "./evaluation-inputs.ts";
import { JudgeError, judgeRequest, type JudgeContext, type JudgeModel } from "./judge.ts";
import { isPassed } from "./passing.ts";
import { readScoreValue } from "./read-score-value.ts";
import type { Sandbox, SandboxResult } from "./sandbox/sandbox-pool.ts";

/** `costUsd` is that of the judge's call, null where there was none or it is unknown. */
export type EvaluationOutcome =
  | { ok: true; value: ScoreValue; isPassed: boolean | null; explanation: string | null; costUsd: number | null }
  | EvaluationFailure;

/** `isTransient`: worth another try. `isRefused`: there was no room to try it at all. */
export type EvaluationFailure = {
  ok: false;
  error: string;
  isTransient: boolean;
  isRefused?: boolean;
  costUsd: number | null;
};

export type Evaluate = (
  evaluator: Evaluator,
  inputs: EvaluationInputs,
  context: JudgeContext,
) => Promise<EvaluationOutcome>;

/** Runs an evaluator on some inputs. Never rejects: what goes wrong is the outcome. */
export function createEvaluate({ sandbox, judge }: { sandbox: Sandbox; judge: JudgeModel }): Evaluate {
  const gate = createJudgeGate();
  return async (evaluator, inputs, context) => {
    if (evaluator.llm_config !== null && evaluator.type === "llm") {
      const judged = await gate(context.organizationId, () => askJudge(judge, evaluator, inputs, context));
      return judged ?? failure("too many judges are busy", { isTransient: true, isRefused: true });
    }
    if (evaluator.type === "human") return failure("people score for this evaluator; nothing runs", {});
    const result = await runInSandbox(sandbox, evaluator, inputs, context.signal);
    if (!result.ok)
      return failure(result.error, "isTransient" in result ? pick(result, "isTransient", "isRefused") : {});
    return read(evaluator, scaled(evaluator, parsed(result.json)), null);
  };
}

/** A few calls at a time for each organisation, and some more for all. Undefined where too many wait. */
function createJudgeGate() {
  const all = new WorkGate({ maxInFlight: limits.judgesInFlight, maxQueued: limits.evaluationRunsInFlight });
  const gates = new Map<string, { gate: WorkGate; users: number }>();
  return async <T>(organizationId: string, work: () => Promise<T>): Promise<T | undefined> => {
    const maxInFlight = limits.judgesPerOrganization;
    const own = gates.get(organizationId) ?? {
      gate: new WorkGate({ maxInFlight, maxQueued: limits.evaluationRunsPerOrganization }),
      users: 0,
    };
    gates.set(organizationId, own);
    own.users += 1;
    try {
      return await own.gate.run(async () => await all.run(work));
    } finally {
      own.users -= 1;
      if (own.users === 0) gates.delete(organizationId);
    }
  };
}

function runInSandbox(
  sandbox: Sandbox,
  evaluator: Evaluator,
  inputs: EvaluationInputs,
  signal: AbortSignal,
): Promise<SandboxResult> {
  const { code_config: code, rule_config: rule, unique_organization_id: organizationId } = evaluator;
  if (evaluator.type === "rule" && rule !== null) {
    const text = inputs[rule.target ?? "output"];
    if (text.length > limits.evaluationInputChars) return Promise.resolve(tooLarge);
    return sandbox.run({ kind: "rule", rule, text, expected: inputs.expected_output }, organizationId, signal);
  }
  if (code === null) return Promise.resolve({ ok: false, error: "the evaluator has no code" });
  const text = JSON.stringify(inputs);
  if (text.length > limits.evaluationInputChars) return Promise.resolve(tooLarge);
  return sandbox.run({ kind: "code", code: code.eval_code_snippet, inputs: text }, organizationId, signal);
}

const tooLarge: SandboxResult = {
  ok: false,
  error: `the log has more than ${limits.evaluationInputChars} characters`,
};

/** Rules say how alike texts are from 0 to 1. */
function scaled(evaluator: Evaluator, value: unknown): unknown {
  const isShare = evaluator.type === "rule" && evaluator.score_value_type === "percentage";
  return isShare && typeof value === "number" ? value * 100 : value;
}

async function askJudge(
  judge: JudgeModel,
  evaluator: Evaluator,
  inputs: EvaluationInputs,
  { signal, ...context }: JudgeContext,
): Promise<EvaluationOutcome> {
  if (evaluator.llm_config === null) return failure("the evaluator has no llm_config", {});
  const deadline = AbortSignal.timeout(limits.judgeMs);
  try {
    const request = judgeRequest(evaluator, evaluator.llm_config, inputs);
    const answer = await judge(request, { ...context, signal: AbortSignal.any([signal, deadline]) });
    const outcome = read(evaluator, judged(evaluator, answer.content), answer.costUsd);
    // A model may do better the next time.
    return outcome.ok ? outcome : { ...outcome, error: `the judge's answer: ${outcome.error}`, isTransient: true };
  } catch (error) {
    if (deadline.aborted) return failure(`the judge took longer than ${limits.judgeMs} ms`, { isTransient: true });
    if (!(error instanceof JudgeError)) return failure("the judge could not be asked", { isTransient: true });
    return failure(error.message, { isTransient: error.isTransient });
  }
}

/** What a judge said. One that is no JSON is no score either, and said so. */
function judged(evaluator: Evaluator, content: string): unknown {
  const answer = parsed(content);
  if (typeof answer !== "object" || answer === null || !("score" in answer)) return undefined;
  const isText = evaluator.score_value_type === "json" && typeof answer.score === "string";
  return isText ? { ...answer, score: parsed(String(answer.score)) } : answer;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

function read(evaluator: Evaluator, returned: unknown, costUsd: number | null): EvaluationOutcome {
  const reading = readScoreValue(evaluator, returned);
  if (!reading.ok) return failure(reading.error, { costUsd });
  const { value, explanation } = reading;
  return { ok: true, value, explanation, isPassed: isPassed(evaluator.passing_conditions, value), costUsd };
}

function failure(error: string, options: Partial<Omit<EvaluationFailure, "ok" | "error">>): EvaluationFailure {
  return {
    ok: false,
    error: error.slice(0, limits.evaluationErrorChars),
    isTransient: false,
    costUsd: null,
    ...options,
  };
}
