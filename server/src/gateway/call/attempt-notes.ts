import { gatewayLimits } from "../limits.ts";
import { errorOfProblem } from "./client-answer.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import type { Attempt } from "../routing/plan.ts";

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
