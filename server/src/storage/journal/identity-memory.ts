import type { Database, RootDatabase } from "lmdb";

/** `timestampNs` and `version` are the accepted row's own. */
export type IdentityRecord = { timestampNs: bigint; version: bigint };
export type IdentityWrite = { identity: Buffer } & IdentityRecord;

const identityOverlapMs = 50;

export type IdentityMemory = {
  lookup(identity: Buffer): IdentityRecord | undefined;
  /**
   * Milliseconds since the epoch: what was accepted from then on is remembered. Of what came before it may be forgotten;
   * the clock being set back never makes it earlier.
   */
  completeSinceMs(): number;
  /** Knows the records from now on. `put` writes them; one of the others is called once the transaction has ended. */
  remember(identities: readonly IdentityWrite[]): { put(): void; succeeded(): void; failed(): void };
};

/**
 * Two generations of a map identity → version; the older one is dropped whole when a new one begins,
 * so that the memory is bounded by time without ever scanning it. A generation that began before the clock was set back
 * is asked too, until its time comes again.
 */
export function openIdentityMemory(
  root: RootDatabase,
  { identityMemoryMs, isFirst, now }: { identityMemoryMs: number; isFirst?: boolean; now: () => number },
): IdentityMemory {
  const uncommitted = new Map<string, IdentityRecord>();
  const openGeneration = (generation: number): Database<Buffer, Buffer> =>
    root.openDB<Buffer, Buffer>({ name: `identity-${generation}`, encoding: "binary", keyEncoding: "binary" });
  const generationAt = (): number => Math.floor(now() / identityMemoryMs);

  const floor = openFloor(root, isFirst === true ? 0 : now());
  const dropBefore = (first: number): void => {
    const dropped = dropOldGenerations(root, first);
    if (dropped !== undefined) floor.raise((dropped + 1) * identityMemoryMs);
  };
  const openFrom = (first: number): Array<Database<Buffer, Buffer>> => {
    dropBefore(first);
    const known = generationsIn(root).filter((generation) => generation > first + 1);
    return [first, first + 1, ...known].map(openGeneration);
  };
  let generation = generationAt();
  let all = openFrom(generation - 1);

  const rotate = (): void => {
    const next = generationAt();
    if (next === generation) return;
    generation = next;
    all = openFrom(generation - 1);
  };

  return {
    lookup(identity) {
      const fresh = uncommitted.get(identity.toString("latin1"));
      if (fresh) return fresh;
      let last: IdentityRecord | undefined;
      for (const generation of all) {
        const stored = generation.getBinaryFast(identity);
        const record = stored && { timestampNs: stored.readBigInt64LE(0), version: stored.readBigUInt64LE(8) };
        if (record !== undefined && (last === undefined || record.version > last.version)) last = record;
      }
      return last;
    },
    completeSinceMs: () => floor.ms(),
    remember(identities) {
      rotate();
      const current = all[1];
      for (const { identity, timestampNs, version } of identities) {
        uncommitted.set(identity.toString("latin1"), { timestampNs, version });
      }
      const put = (): void => {
        for (const { identity, timestampNs, version } of identities) {
          const record = Buffer.allocUnsafe(16);
          record.writeBigInt64LE(timestampNs, 0);
          record.writeBigUInt64LE(version, 8);
          void current?.put(identity, record);
        }
      };
      const forget = (): void => {
        for (const { identity, version } of identities) {
          const key = identity.toString("latin1");
          if (uncommitted.get(key)?.version === version) uncommitted.delete(key);
        }
      };
      // A read of this very event turn may still see the snapshot before the commit.
      return { put, succeeded: () => void setTimeout(forget, identityOverlapMs).unref(), failed: forget };
    },
  };
}

/** Since when the memory is complete, on disk beside it. */
function openFloor(root: RootDatabase, initialMs: number) {
  const stored = root.openDB<number, string>({ name: "identities-complete", encoding: "json" });
  const write = (ms: number): number => {
    void stored.put("since_ms", ms);
    return ms;
  };
  let sinceMs = stored.get("since_ms") ?? write(initialMs);
  return {
    ms: () => sinceMs,
    raise(ms: number): void {
      if (ms > sinceMs) sinceMs = write(ms);
    },
  };
}

function generationsIn(root: RootDatabase): number[] {
  const names = root.getKeys({ start: "identity-", end: "identity-~" });
  return [...names].map((name) => Number(String(name).slice("identity-".length)));
}

/** Drops the generations before `first`, and gives the last of them. */
function dropOldGenerations(root: RootDatabase, first: number): number | undefined {
  let last: number | undefined;
  for (const generation of generationsIn(root)) {
    if (generation >= first) continue;
    last = Math.max(last ?? generation, generation);
    // What could not be dropped is tried again with the next generation.
    root
      .openDB({ name: `identity-${generation}`, encoding: "binary" })
      .drop()
      .catch(() => undefined);
  }
  return last;
}
