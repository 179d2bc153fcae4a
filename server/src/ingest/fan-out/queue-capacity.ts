/**
 * Whether the queue of an organization has room, from memory: its entries are counted periodically, as other nodes add
 * and take entries too, and entries added here count immediately. A full queue has room again once it is half empty, so
 * that reading back missed spans is worthwhile.
 */
export type QueueCapacity = {
  isFull(organizationId: string): boolean;
  added(organizationId: string, entries: number): void;
  /** Counts again. */
  refresh(): Promise<void>;
  /** The number of organizations with a full queue. */
  full(): number;
};

export function createQueueCapacity(deps: {
  maxEntries: number;
  /** The number of queued entries per organization; organizations without entries may be missing. */
  count: () => Promise<ReadonlyMap<string, number>>;
  /** Called once each time that a queue becomes full. */
  onFull: (organizationId: string) => void;
}): QueueCapacity {
  const { maxEntries, count, onFull } = deps;
  let entries = new Map<string, number>();
  const full = new Set<string>();

  const refresh = (organizationId: string): void => {
    const waiting = entries.get(organizationId) ?? 0;
    if (waiting >= maxEntries && !full.has(organizationId)) {
      full.add(organizationId);
      onFull(organizationId);
    }
    if (waiting <= maxEntries / 2) full.delete(organizationId);
  };
  return {
    isFull: (organizationId) => full.has(organizationId),
    added(organizationId, more) {
      entries.set(organizationId, (entries.get(organizationId) ?? 0) + more);
      refresh(organizationId);
    },
    async refresh() {
      entries = new Map(await count());
      for (const organizationId of new Set([...entries.keys(), ...full])) refresh(organizationId);
    },
    full: () => full.size,
  };
}
