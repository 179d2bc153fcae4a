import type { Evaluator } from "../domain/evaluator.ts";
import type { ScoreValue } from "../domain/score.ts";
import { pick } from "../lib/pick.ts";
import { FairGate, GateRefusal } from "../lib/fair-gate.ts";
import { evaluationLimits } from "./limits.ts";
import { storageLimits } from "../storage/limits.ts";
import type { EvaluationInputs } from "./evaluation-inputs.ts";
import {
  JudgeError,
  judgePrompt,
  judgeRequest,
  type JudgeAnswer,
  type JudgeContext,
  type JudgeModel,
} from "./judge.ts";
import { mentionLeft, withoutMedia, type JudgeMedia, type WithJudgeMedia } from "./judge-media.ts";
import { isPassed } from "./passing.ts";
import { readScoreValue } from "./read-score-value.ts";
import type { Sandbox, SandboxResult } from "./sandbox/sandbox-pool.ts";

/** `costUsd` is the cost of the judge's call: null if there was none or it is unknown. */
export type EvaluationOutcome =
  | { ok: true; value: ScoreValue; isPassed: boolean | null; explanation: string | null; costUsd: number | null }
  | EvaluationFailure;

/** `isTransient`: a retry may succeed. `isRefused`: there was no room to start it. */
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

type JudgeDeps = { judge: JudgeModel; withMedia: WithJudgeMedia; judgeGate: FairGate };

/** Limits concurrent calls of judges for each organization and in total. */
export function createJudgeGate(): FairGate {
  return new FairGate({
    maxInFlight: evaluationLimits.judgesInFlight,
    maxEach: evaluationLimits.judgesPerOrganization,
    maxWaiting: evaluationLimits.judgesWaiting,
    sharesSlots: true,
  });
}

/** Runs an evaluator on some inputs. Never rejects: an error is part of the outcome. */
export function createEvaluate(deps: { sandbox: Pick<Sandbox, "run"> } & JudgeDeps): Evaluate {
  const { sandbox } = deps;
  return async (evaluator, inputs, context) => {
    if (evaluator.llm_config !== null && evaluator.type === "llm") {
      return await runJudge(deps, evaluator, inputs, context);
    }
    if (evaluator.type === "human") return failure("people score for this evaluator; nothing runs", {});
    const result = await runInSandbox(sandbox, evaluator, inputs, context.signal);
    if (!result.ok)
      return failure(result.error, "isTransient" in result ? pick(result, "isTransient", "isRefused") : {});
    return read(evaluator, scaled(evaluator, parsed(result.json)), null);
  };
}

function runInSandbox(
  sandbox: Pick<Sandbox, "run">,
  evaluator: Evaluator,
  inputs: EvaluationInputs,
  signal: AbortSignal,
): Promise<SandboxResult> {
  const { code_config: code, rule_config: rule, unique_organization_id: organizationId } = evaluator;
  if (evaluator.type === "rule" && rule !== null) {
    const text = inputs[rule.target ?? "output"];
    if (text.length > evaluationLimits.evaluationInputChars) return Promise.resolve(tooLarge);
    return sandbox.run({ kind: "rule", rule, text, expected: inputs.expected_output }, organizationId, signal);
  }
  if (code === null) return Promise.resolve({ ok: false, error: "the evaluator has no code" });
  const text = JSON.stringify(inputs);
  if (text.length > evaluationLimits.evaluationInputChars) return Promise.resolve(tooLarge);
  return sandbox.run({ kind: "code", code: code.eval_code_snippet, inputs: text }, organizationId, signal);
}

const tooLarge: SandboxResult = {
  ok: false,
  error: `the log has more than ${evaluationLimits.evaluationInputChars} characters`,
};

/** Rules return similarity as a number from 0 to 1. */
function scaled(evaluator: Evaluator, value: unknown): unknown {
  const isShare = evaluator.type === "rule" && evaluator.score_value_type === "percentage";
  return isShare && typeof value === "number" ? value * 100 : value;
}

async function runJudge(
  { judge, withMedia, judgeGate }: JudgeDeps,
  evaluator: Evaluator,
  inputs: EvaluationInputs,
  context: JudgeContext,
): Promise<EvaluationOutcome> {
  const { llm_config: config } = evaluator;
  if (config === null) return failure("the evaluator has no llm_config", {});
  const prompt = judgePrompt(config, inputs);
  try {
    const inTurn = (run: (media: JudgeMedia) => Promise<EvaluationOutcome>) =>
      judgeGate.run(context.organizationId, context.signal, () => withMedia(prompt, context, run));
    return await inTurn(async (media) => {
      const deadline = AbortSignal.timeout(evaluationLimits.judgeMs);
      const signal = AbortSignal.any([context.signal, deadline]);
      const run: RunJudge = (shown) => judge(judgeRequest(evaluator, config, prompt, shown), { ...context, signal });
      try {
        const { answer, left } = await runWithMedia(run, media);
        const outcome = read(evaluator, judged(evaluator, answer.content), answer.costUsd);
        // The model may succeed on a retry.
        if (!outcome.ok) return { ...outcome, error: `the judge's answer: ${outcome.error}`, isTransient: true };
        return left.length === 0 ? outcome : { ...outcome, explanation: withLeft(outcome.explanation, left) };
      } catch (error) {
        if (deadline.aborted)
          return failure(`the judge took longer than ${evaluationLimits.judgeMs} ms`, { isTransient: true });
        throw error;
      }
    });
  } catch (error) {
    if (error instanceof GateRefusal) return busy();
    if (!(error instanceof JudgeError)) return failure("the judge could not be asked", { isTransient: true });
    return failure(error.message, { isTransient: error.isTransient });
  }
}

type RunJudge = (media: JudgeMedia) => Promise<JudgeAnswer>;

/** A model that refuses media, as most text-only models do, is called once more without it. */
async function runWithMedia(
  run: RunJudge,
  media: JudgeMedia,
): Promise<{ answer: JudgeAnswer; left: JudgeMedia["left"] }> {
  try {
    return { answer: await run(media), left: media.left };
  } catch (error) {
    if (!(error instanceof JudgeError) || error.isTransient || media.shown.length === 0) throw error;
    const text = withoutMedia(media, `refused: ${error.message.slice(0, evaluationLimits.judgeRefusalChars)}`);
    return { answer: await run(text), left: text.left };
  }
}

function withLeft(explanation: string | null, left: JudgeMedia["left"]): string {
  return explanation ? `${explanation}\n\n${mentionLeft(left)}` : mentionLeft(left);
}

/** The value in a judge's answer. If the answer is not JSON, it has no score, and the outcome states that. */
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

function busy(): EvaluationFailure {
  return failure("too many judges are busy", { isTransient: true, isRefused: true });
}

function failure(error: string, options: Partial<Omit<EvaluationFailure, "ok" | "error">>): EvaluationFailure {
  return {
    ok: false,
    error: error.slice(0, storageLimits.evaluationErrorChars),
    isTransient: false,
    costUsd: null,
    ...options,
  };
}
