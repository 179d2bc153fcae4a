/**
 * Whether the queue of an organisation has room, asked of memory: what it holds is counted now and then, as other nodes add
 * and take too, and what is added here counts at once. Full at its bound, it has room again once half of it is worked off, so
 * that reading back what was missed is worth its while.
 */
export type QueueRoom = {
  isFull(organizationId: string): boolean;
  added(organizationId: string, entries: number): void;
  /** Counts again. */
  refresh(): Promise<void>;
  /** How many organisations have a full queue. */
  full(): number;
};

export function createQueueRoom(deps: {
  maxEntries: number;
  /** What the queue of each organisation holds; those that hold nothing may be left out. */
  count: () => Promise<ReadonlyMap<string, number>>;
  /** Told once each time that one is full. */
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
