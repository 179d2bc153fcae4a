import { gatewayLimits } from "../limits.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import type { Attempt, PlanStep } from "../routing/plan.ts";
import { errorOfProblem } from "./client-answer.ts";
import type { UpstreamTimeouts } from "./exchange.ts";

/** The outcome of one attempt, as the span lists it. `status_code` is the upstream's own, null if it sent none. */
export type AttemptNote = {
  provider: string;
  model: string;
  status_code: number | null;
  /** Safe to show to a caller: never an address or a credential. */
  error_message: string | null;
  /** Seconds, without the wait before the attempt. */
  latency: number;
  /** USD, if the attempt failed and is charged for. */
  cost?: number;
};

/**
 * Notes the attempts of a call, starting with the first that fails: a call that succeeds at once has no notes. The last
 * place is reserved for the attempt that ended the call.
 */
export function noteAttempt(
  notes: AttemptNote[],
  { target: { provider, model } }: Attempt,
  outcome: UpstreamProblem | "success" | "aborted",
  ms: number,
  costUsd?: number,
): void {
  if (typeof outcome === "string" && notes.length === 0) return;
  if (notes.length >= gatewayLimits.recordedAttempts) notes.pop();
  notes.push({
    provider,
    model,
    ...resultOf(outcome),
    latency: Math.round(ms) / 1e3,
    ...(costUsd !== undefined && { cost: costUsd }),
  });
}

function resultOf(
  outcome: UpstreamProblem | "success" | "aborted",
): Pick<AttemptNote, "status_code" | "error_message"> {
  if (outcome === "success") return { status_code: 200, error_message: null };
  if (outcome === "aborted")
    return { status_code: null, error_message: "The call was aborted before the response was complete." };
  const { message } = errorOfProblem(outcome);
  const status = outcome.isUnsent === true ? null : outcome.status || null;
  return { status_code: status, error_message: message.slice(0, gatewayLimits.recordedAttemptChars) };
}

/** The notes without the upstream's messages, which may quote content. */
export function withoutMessages(notes: readonly AttemptNote[]): AttemptNote[] {
  return notes.map((note) => ({ ...note, error_message: note.error_message === null ? null : "The attempt failed." }));
}

/**
 * The timeouts of one attempt. It leaves time for the models that may still be tried, within the deadlines of the route
 * and of the call. A stream gets all remaining total time: once it has begun, no other model can answer.
 * @param leftMs the time left for the whole call
 */
export function timesOf(
  timeouts: UpstreamTimeouts,
  leftMs: number,
  { furtherModels, roomMs }: Pick<PlanStep, "furtherModels" | "roomMs">,
  isStream: boolean,
): UpstreamTimeouts {
  const remainingMs = Math.max(1, leftMs);
  const forOthersMs = Math.min(
    timeouts.firstByteMs * furtherModels,
    (remainingMs * furtherModels) / (furtherModels + 1),
  );
  const ownMs = Math.max(1, remainingMs - forOthersMs);
  return {
    firstByteMs: Math.min(timeouts.firstByteMs, ownMs, Math.max(1, roomMs)),
    idleMs: timeouts.idleMs,
    totalMs: isStream ? remainingMs : ownMs,
  };
}
