import type { TraceDeletion } from "../../domain/trace.ts";
import { domainLimits } from "../../domain/limits.ts";
import { ingestLimits } from "../limits.ts";

/**
 * Traces deleted within the last day, so that resends of their spans stay deleted. Bounded: beyond
 * `domainLimits.deletedTraces`, the oldest of the organization with the most are evicted. After that, only
 * byte-identical resends are recognized, by the tombstones in the table.
 */
export type DeletedTraces = {
  /** Whether a span of this trace that ended at `timestampNs` was deleted. */
  covers(trace: TraceOf, timestampNs: bigint): boolean;
  /** Whether any span of this trace was deleted. */
  has(trace: TraceOf): boolean;
  add(deletion: TraceDeletion): void;
  /** The deletions of the last `ageMs` milliseconds. */
  since(ageMs: number): TraceDeletion[];
  /** `traces` counts the traces in memory, `evicted` the traces that the bound has removed from it. */
  stats(): { traces: number; evicted: number };
};

type TraceOf = { organization_id: string; environment: string; trace_unique_id?: string | undefined };

export function createDeletedTraces(now: () => number, maxTraces: number = domainLimits.deletedTraces): DeletedTraces {
  /** By organization, in insertion order. */
  const organizations = new Map<string, Map<string, TraceDeletion[]>>();
  let traces = 0;
  let evicted = 0;

  const dropExpired = (deletions: Map<string, TraceDeletion[]>): void => {
    for (const [key, list] of deletions) {
      if ((list.at(-1)?.deletedAtMs ?? 0) >= now() - domainLimits.deletedTraceMs) return;
      deletions.delete(key);
      traces -= 1;
    }
  };
  const makeRoom = (): void => {
    for (const deletions of organizations.values()) dropExpired(deletions);
    if (traces <= maxTraces) return;
    const largest = [...organizations.values()].reduce((one, other) => (other.size > one.size ? other : one));
    for (const oldest of largest.keys()) {
      largest.delete(oldest);
      traces -= 1;
      evicted += 1;
      return;
    }
  };

  const deletionsOf = (trace: TraceOf): readonly TraceDeletion[] => {
    if (traces === 0 || trace.trace_unique_id === undefined) return [];
    const oldestMs = now() - domainLimits.deletedTraceMs;
    const list = organizations.get(trace.organization_id)?.get(keyOf(trace)) ?? [];
    return list.filter(({ deletedAtMs }) => deletedAtMs > oldestMs);
  };

  return {
    covers: (trace, timestampNs) =>
      deletionsOf(trace).some(({ fromNs, toNs }) => timestampNs >= fromNs && timestampNs <= toNs),
    has: (trace) => deletionsOf(trace).length > 0,
    add(deletion) {
      const key = keyOf(deletion);
      const deletions = organizations.get(deletion.organization_id) ?? new Map<string, TraceDeletion[]>();
      organizations.set(deletion.organization_id, deletions);
      const list = deletions.get(key) ?? [];
      const isKnown = list.some(
        (other) =>
          other.deletedAtMs === deletion.deletedAtMs &&
          other.fromNs === deletion.fromNs &&
          other.toNs === deletion.toNs,
      );
      if (isKnown) return;
      if (!deletions.delete(key)) traces += 1;
      deletions.set(key, [...list, deletion].slice(-ingestLimits.deletionsPerTrace));
      dropExpired(deletions);
      if (traces > maxTraces) makeRoom();
    },
    since(ageMs) {
      const all = [...organizations.values()].flatMap((deletions) => [...deletions.values()].flat());
      return all.filter(({ deletedAtMs }) => deletedAtMs >= now() - ageMs);
    },
    stats() {
      for (const deletions of organizations.values()) dropExpired(deletions);
      return { traces, evicted };
    },
  };
}

function keyOf({ environment, trace_unique_id }: TraceOf): string {
  return `${environment}\n${trace_unique_id}`;
}
