/**
 * Whether the queue of an organization has room, from memory: its entries are counted periodically, as other nodes add
 * and take entries too, and entries added here count immediately. A full queue has room again once it is half empty, so
 * that reading back missed spans is worthwhile.
 */
export type QueueRoom = {
  isFull(organizationId: string): boolean;
  added(organizationId: string, entries: number): void;
  /** Counts again. */
  refresh(): Promise<void>;
  /** The number of organizations with a full queue. */
  full(): number;
};

export function createQueueRoom(deps: {
  maxEntries: number;
  /** The number of queued entries per organization; organizations without entries may be missing. */
  count: () => Promise<ReadonlyMap<string, number>>;
  /** Called once each time that a queue becomes full. */
  onFull: (organizationId: string) => void;
}): QueueRoom {
  const { maxEntries, count, onFull } = deps;
  let entries = new Map<string, number>();
  const full = new Set<string>();

  const look = (organizationId: string): void => {
    const held = entries.get(organizationId) ?? 0;
    if (held >= maxEntries && !full.has(organizationId)) {
      full.add(organizationId);
      onFull(organizationId);
    }
    if (held <= maxEntries / 2) full.delete(organizationId);
  };
  return {
    isFull: (organizationId) => full.has(organizationId),
    added(organizationId, more) {
      entries.set(organizationId, (entries.get(organizationId) ?? 0) + more);
      look(organizationId);
    },
    async refresh() {
      entries = new Map(await count());
      for (const organizationId of new Set([...entries.keys(), ...full])) look(organizationId);
    },
    full: () => full.size,
  };
}
