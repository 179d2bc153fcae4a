import { ServiceError } from "../../../domain/errors.ts";
import { FairGate, GateRefusal } from "../../../lib/fair-gate.ts";
import { storageLimits } from "../../limits.ts";
import { asReadError } from "./engine-errors.ts";
import type { QueryOutcome, SpanDatabaseOptions, Statement } from "./span-database.ts";

export type GateObservers = Pick<SpanDatabaseOptions, "onQuery" | "watchLimits">;

/**
 * Bounds how many queries run and wait, fairly by organization, and reports how each ended. A query may take its full
 * time limit, so one organization must leave places for others.
 *
 * @param names of the bounds, if organizations share them
 */
export function createQueryGate(
  bounds: { inFlight: number; queued: number; waitMs?: number },
  { onQuery, watchLimits }: GateObservers,
  names?: readonly [inFlight: string, queued: string],
): <T>(statement: Statement, signal: AbortSignal | undefined, work: () => Promise<T>) => Promise<T> {
  const { inFlight, queued, waitMs } = bounds;
  const gate = new FairGate({
    maxInFlight: inFlight,
    maxWaiting: queued,
    ...(waitMs !== undefined && { maxWaitMs: waitMs }),
    sharesSlots: true,
  });
  if (names !== undefined) watchLimits?.({ [names[0]]: gate.places, [names[1]]: gate.queue });

  return async ({ name, params }, signal, work) => {
    const started = performance.now();
    const party = String(params?.["organization_id"] ?? "");
    const ended = (outcome: QueryOutcome) =>
      onQuery?.({ name, seconds: (performance.now() - started) / 1000, outcome });
    try {
      const result = await gate.run(party, signal, async () => {
        signal?.throwIfAborted();
        return await work();
      });
      ended("ok");
      return result;
    } catch (error) {
      if (error instanceof GateRefusal) {
        ended("refused");
        throw new ServiceError("unavailable", "too many queries are waiting", { retryAfterS: 1, cause: error });
      }
      if (signal?.aborted) {
        ended("aborted");
        throw signal.reason;
      }
      const known = asReadError(error);
      ended(known instanceof ServiceError ? outcomeOf(known) : "failed");
      throw known;
    }
  };
}

export const queryLimitNames = ["queriesInFlight", "queriesQueued"] as const;

export const exportLimitNames = ["exportsInFlight", "exportsQueued"] as const;

/** Exports run as long as their clients take. */
export const exportGate = {
  inFlight: storageLimits.exportsInFlight,
  queued: storageLimits.exportsQueued,
  waitMs: storageLimits.exportWaitMs,
} as const;

function outcomeOf(error: ServiceError): QueryOutcome {
  return error.code === "query_too_large" || error.code === "unavailable" ? error.code : "failed";
}
