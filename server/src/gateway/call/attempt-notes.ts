import { gatewayLimits } from "../limits.ts";
import { errorOfProblem } from "./client-answer.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import type { Attempt } from "../routing/plan.ts";

/** What became of one attempt, as the span tells it. `status_code` is the upstream's own, null where it gave none. */
export type AttemptNote = {
  provider: string;
  model: string;
  status_code: number | null;
  /** As a caller might be told: never an address or a credential. */
  error_message: string | null;
  /** Seconds, without the wait before it. */
  latency: number;
  /** USD, of one that failed and is charged for. */
  cost?: number;
};

/**
 * The attempts of a call, noted from the first that fails: a call that went well at once has nothing to tell beyond its span. The last
 * place is kept for the attempt that ended the call.
 */
export function noteAttempt(
  notes: AttemptNote[],
  { target: { provider, model } }: Attempt,
  outcome: UpstreamProblem | "success" | "cut",
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

function resultOf(outcome: UpstreamProblem | "success" | "cut"): Pick<AttemptNote, "status_code" | "error_message"> {
  if (outcome === "success") return { status_code: 200, error_message: null };
  if (outcome === "cut") return { status_code: null, error_message: "The call was cut before the answer was whole." };
  const { message } = errorOfProblem(outcome);
  const status = outcome.isUnsent === true ? null : outcome.status || null;
  return { status_code: status, error_message: message.slice(0, gatewayLimits.recordedAttemptChars) };
}

/** The same without an upstream's own words, which may quote what was said. */
export function withoutWords(notes: readonly AttemptNote[]): AttemptNote[] {
  return notes.map((note) => ({ ...note, error_message: note.error_message === null ? null : "The attempt failed." }));
}
