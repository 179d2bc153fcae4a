import type { TraceDeletion } from "../domain/trace.ts";
import { limits } from "../limits.ts";

/**
 * Traces that were deleted within the last day, so that what senders repeat of them stays deleted. Bounded: of more than
 * `limits.deletedTraces` the oldest are forgotten, and then only byte-identical repetitions are still recognised, by the
 * tombstones in the table.
 */
export type DeletedTraces = {
  /** Whether a span of this trace that ended at `timestampNs` was deleted. */
  covers(trace: TraceOf, timestampNs: bigint): boolean;
  add(deletion: TraceDeletion): void;
  /** Those that were deleted within the last `ageMs`. */
  since(ageMs: number): TraceDeletion[];
  /** How many are remembered, and how many were forgotten so far because there were too many. */
  stats(): { traces: number; forgotten: number };
};

type TraceOf = { organization_id: string; environment: string; trace_unique_id?: string | undefined };

export function createDeletedTraces(now: () => number): DeletedTraces {
  /** In the order of their addition. */
  const deletions = new Map<string, TraceDeletion[]>();

  let forgotten = 0;

  const dropExpired = (): void => {
    for (const [key, list] of deletions) {
      const isExpired = (list.at(-1)?.deletedAtMs ?? 0) < now() - limits.deletedTraceMs;
      if (!isExpired && deletions.size <= limits.deletedTraces) return;
      if (!isExpired) forgotten += 1;
      deletions.delete(key);
    }
  };

  return {
    covers(trace, timestampNs) {
      if (deletions.size === 0 || trace.trace_unique_id === undefined) return false;
      const list = deletions.get(keyOf(trace)) ?? [];
      const oldestMs = now() - limits.deletedTraceMs;
      return list.some(
        ({ fromNs, toNs, deletedAtMs }) => timestampNs >= fromNs && timestampNs <= toNs && deletedAtMs > oldestMs,
      );
    },
    add(deletion) {
      const key = keyOf(deletion);
      const list = deletions.get(key) ?? [];
      const isKnown = list.some(
        (other) =>
          other.deletedAtMs === deletion.deletedAtMs &&
          other.fromNs === deletion.fromNs &&
          other.toNs === deletion.toNs,
      );
      if (isKnown) return;
      deletions.delete(key);
      deletions.set(key, [...list, deletion].slice(-limits.deletionsPerTrace));
      dropExpired();
    },
    since(ageMs) {
      return [...deletions.values()].flat().filter(({ deletedAtMs }) => deletedAtMs >= now() - ageMs);
    },
    stats: () => ({ traces: deletions.size, forgotten }),
  };
}

function keyOf({ organization_id, environment, trace_unique_id }: TraceOf): string {
  return `${organization_id}\n${environment}\n${trace_unique_id}`;
}
