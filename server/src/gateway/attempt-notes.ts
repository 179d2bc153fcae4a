import { limits } from "../limits.ts";
import { errorOfProblem } from "./client-answer.ts";
import type { UpstreamProblem } from "./providers/provider.ts";
import type { Attempt } from "./routing/plan.ts";

/** What became of one attempt, as the span tells it. `status_code` is the upstream's own, null where it gave none. */
export type AttemptNote = {
  provider: string;
  model: string;
  status_code: number | null;
  /** As a caller might be told: never an address or a credential. */
  error_message: string | null;
  /** Seconds, without the wait before it. */
  latency: number;
};

/**
 * The attempts of a call, noted from the first that fails: a call that went well at once has nothing to tell beyond its span. The last
 * place is kept for the attempt that ended the call.
 */
export function noteAttempt(
  notes: AttemptNote[],
  { target: { provider, model } }: Attempt,
  outcome: { problem: UpstreamProblem } | { status: 200 | 499 },
  ms: number,
): void {
  const isFailed = "problem" in outcome;
  if (!isFailed && notes.length === 0) return;
  if (notes.length >= limits.recordedAttempts) notes.pop();
  notes.push({
    provider,
    model,
    status_code: isFailed ? outcome.problem.status || null : outcome.status,
    error_message: isFailed ? errorOfProblem(outcome.problem).message.slice(0, limits.recordedAttemptChars) : null,
    latency: Math.round(ms) / 1e3,
  });
}

/** The same without an upstream's own words, which may quote what was said. */
export function withoutWords(notes: readonly AttemptNote[]): AttemptNote[] {
  return notes.map((note) => ({ ...note, error_message: note.error_message === null ? null : "The attempt failed." }));
}
