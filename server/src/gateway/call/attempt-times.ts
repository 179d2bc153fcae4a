import type { UpstreamTimeouts } from "./exchange.ts";
import type { PlanStep } from "../routing/plan.ts";

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
