import type { UpstreamTimeouts } from "./exchange.ts";
import type { PlanStep } from "../routing/plan.ts";

/**
 * The times of one attempt: where other models may still be asked, it leaves time for them, by the deadline of the route and by that of
 * the whole call. A stream that has begun has all of the time, as nobody else can answer any more.
 * @param leftMs of the time for the whole call
 */
export function timesOf(
  timeouts: UpstreamTimeouts,
  leftMs: number,
  { furtherModels, roomMs }: Pick<PlanStep, "furtherModels" | "roomMs">,
  isStream: boolean,
): UpstreamTimeouts {
  const restMs = Math.max(1, leftMs);
  const forOthersMs = Math.min(timeouts.firstByteMs * furtherModels, (restMs * furtherModels) / (furtherModels + 1));
  const ownMs = Math.max(1, restMs - forOthersMs);
  return {
    firstByteMs: Math.min(timeouts.firstByteMs, ownMs, Math.max(1, roomMs)),
    idleMs: timeouts.idleMs,
    totalMs: isStream ? restMs : ownMs,
  };
}
