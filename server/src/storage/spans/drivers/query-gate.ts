import { ServiceError } from "../../../domain/errors.ts";
import { WorkGate } from "../../../lib/work-gate.ts";
import { asReadError } from "./engine-errors.ts";
import type { QueryOutcome, SpanDatabaseOptions } from "./span-database.ts";

/** Bounds how many queries run and wait, and tells how each ended. */
export function createQueryGate(
  bounds: { inFlight: number; queued: number },
  onQuery: SpanDatabaseOptions["onQuery"],
): <T>(name: string, signal: AbortSignal | undefined, work: () => Promise<T>) => Promise<T> {
  const gate = new WorkGate({ maxInFlight: bounds.inFlight, maxQueued: bounds.queued });

  return async (name, signal, work) => {
    const started = performance.now();
    const ended = (outcome: QueryOutcome) =>
      onQuery?.({ name, seconds: (performance.now() - started) / 1000, outcome });
    const running = gate.run(async () => {
      signal?.throwIfAborted();
      return await work();
    });
    if (running === undefined) {
      ended("refused");
      throw new ServiceError("unavailable", "too many queries are waiting", { retryAfterS: 1 });
    }
    try {
      const result = await running;
      ended("ok");
      return result;
    } catch (error) {
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

function outcomeOf(error: ServiceError): QueryOutcome {
  return error.code === "query_too_large" || error.code === "unavailable" ? error.code : "failed";
}
