import type { Database, RootDatabase } from "lmdb";
import type { IdentityRecord } from "../../domain/identity.ts";
import { bytesOnDisk } from "./disk-space.ts";
import type { JournalDatabase } from "./journal-database.ts";

export type IdentityWrite = { identity: Buffer } & IdentityRecord;

const identityOverlapMs = 50;
/** Sorts after every identity with a prefix: the part after the prefix is shorter than this. */
const prefixEnd = Buffer.alloc(9, 0xff);
/** The bits of a version that hold the time of receipt, see domain/identity.ts. */
const receivedBits = (1n << 61n) - 1n;

export type IdentityMemory = {
  lookup(identity: Buffer): IdentityRecord | undefined;
  /** Whether there were any records when the memory was opened. */
  hasHistory: boolean;
  /** Whether a committed record whose identity begins with these bytes was received before that time. */
  hasEarlier(prefix: Buffer, beforeNs: bigint): boolean;
  /**
   * Milliseconds since the epoch: every identity accepted from then on is remembered, earlier ones may be evicted.
   * Setting the clock back never moves it to an earlier time.
   */
  completeSinceMs(): number;
  /**
   * `lookup` finds the records from now on. `put` writes them; call `succeeded` or `failed` once the transaction has
   * ended.
   */
  remember(identities: readonly IdentityWrite[]): { put(): void; succeeded(): void; failed(): void };
};

/**
 * Two generations of a map from identity to version. The older one is dropped as one database when a new one begins, so that time
 * bounds the memory without a scan. After the clock was set back, lookups also read generations with later numbers,
 * until the clock reaches them again.
 */
export function openIdentityMemory(
  database: JournalDatabase,
  { identityMemoryMs, isFirst, now }: { identityMemoryMs: number; isFirst?: boolean; now: () => number },
): IdentityMemory {
  const { root } = database;
  const uncommitted = new Map<string, IdentityRecord>();
  const openGeneration = (generation: number): Database<Buffer, Buffer> =>
    root.openDB<Buffer, Buffer>({ name: `identity-${generation}`, encoding: "binary", keyEncoding: "binary" });
  const generationAt = (): number => Math.floor(now() / identityMemoryMs);

  const watermark = openWatermark(database, isFirst === true ? 0 : now());
  const dropBefore = (first: number): void => {
    for (const old of generationsIn(root).filter((generation) => generation < first)) {
      const dropped = openGeneration(old);
      const write = watermark.advance((old + 1) * identityMemoryMs);
      const change = (): void => {
        write();
        void dropped.drop();
      };
      // A failed drop is retried with the next generation.
      database.change(bytesOnDisk(dropped) / pagesListedPerPage, change).catch(() => undefined);
    }
  };
  const openFrom = (first: number): Array<Database<Buffer, Buffer>> => {
    dropBefore(first);
    const known = generationsIn(root).filter((generation) => generation > first + 1);
    return [first, first + 1, ...known].map(openGeneration);
  };
  const hasHistory = generationsIn(root).length > 0;
  let generation = generationAt();
  let generations = openFrom(generation - 1);

  const rotate = (): void => {
    const next = generationAt();
    if (next === generation) return;
    generation = next;
    generations = openFrom(generation - 1);
  };

  return {
    lookup(identity) {
      const fresh = uncommitted.get(identity.toString("latin1"));
      if (fresh) return fresh;
      let last: IdentityRecord | undefined;
      for (const generation of generations) {
        const stored = generation.getBinaryFast(identity);
        const record = stored && readRecord(stored);
        if (record !== undefined && (last === undefined || record.version > last.version)) last = record;
      }
      return last;
    },
    hasHistory,
    hasEarlier: (prefix, beforeNs) => generations.some((generation) => hasEarlier(generation, prefix, beforeNs)),
    completeSinceMs: () => watermark.ms(),
    remember(identities) {
      rotate();
      const current = generations[1];
      for (const { identity, ...record } of identities) uncommitted.set(identity.toString("latin1"), record);
      const put = (): void => {
        for (const { identity, timestampNs, version, firstReceivedNs } of identities) {
          const record = Buffer.allocUnsafe(24);
          record.writeBigInt64LE(timestampNs, 0);
          record.writeBigUInt64LE(version, 8);
          record.writeBigInt64LE(firstReceivedNs, 16);
          void current?.put(identity, record);
        }
      };
      const evict = (): void => {
        for (const { identity, version } of identities) {
          const key = identity.toString("latin1");
          if (uncommitted.get(key)?.version === version) uncommitted.delete(key);
        }
      };
      // A read in the same event-loop turn may still see the snapshot from before the commit.
      return { put, succeeded: () => void setTimeout(evict, identityOverlapMs).unref(), failed: evict };
    },
  };
}

/** Records of version 0.1 have no time of first receipt: the last receipt is used, which is an upper bound. */
function readRecord(stored: Buffer): IdentityRecord {
  const version = stored.readBigUInt64LE(8);
  const firstReceivedNs = stored.length < 24 ? version & receivedBits : stored.readBigInt64LE(16);
  return { timestampNs: stored.readBigInt64LE(0), version, firstReceivedNs };
}

function hasEarlier(generation: Database<Buffer, Buffer>, prefix: Buffer, beforeNs: bigint): boolean {
  const end = Buffer.concat([prefix, prefixEnd]);
  for (const { value } of generation.getRange({ start: prefix, end, snapshot: false })) {
    if ((value.readBigUInt64LE(8) & receivedBits) < beforeNs) return true;
  }
  return false;
}

/**
 * Marks the memory of a restored journal: it counts as complete only from `ms` on, because the span store is of another
 * moment.
 */
export async function identitiesMissingUntil(database: JournalDatabase, ms: number): Promise<void> {
  const watermark = openWatermark(database, ms);
  await database.add(0, watermark.advance(ms));
}

/** The time since which the memory is complete, stored beside it. */
function openWatermark(database: JournalDatabase, initialMs: number) {
  const stored = database.root.openDB<number, string>({ name: "identities-complete", encoding: "json" });
  const write = (): void => void stored.put("since_ms", sinceMs);
  const known = stored.get("since_ms");
  let sinceMs = known ?? initialMs;
  // If the disk refuses this write, the next dropped generation writes it.
  if (known === undefined) database.add(0, write).catch(() => undefined);
  return {
    ms: () => sinceMs,
    /** Call the returned function in the transaction that evicts the earlier records. */
    advance(ms: number): () => void {
      sinceMs = Math.max(sinceMs, ms);
      return write;
    },
  };
}

function generationsIn(root: RootDatabase): number[] {
  const names = root.getKeys({ start: "identity-", end: "identity-~" });
  return [...names].map((name) => Number(String(name).slice("identity-".length)));
}

/** The list of pages that a generation frees takes 8 bytes per page, and is written twice if it grows meanwhile. */
const pagesListedPerPage = 256;
