import { ServiceError } from "../../domain/errors.ts";
import { FairShare, type SharedLimit } from "../../lib/fair-share.ts";
import { bytesToRemove } from "./disk-space.ts";
import type { IdentityRecord } from "../../domain/identity.ts";
import { openIdentityMemory, type IdentityMemory, type IdentityWrite } from "./identity-memory.ts";
import { openDatabase, describeWriteError, type JournalDatabase } from "./journal-database.ts";
import { openRetainedEntries, type Retention, type RetainedEntries } from "./retained-entries.ts";
import { openChunkedValues, type ChunkedValues } from "./chunked-values.ts";
import { openQuarantine } from "./quarantine.ts";

/**
 * Accepted spans that the span store does not have yet, on this node's disk.
 *
 * The guarantee: when `append` resolves, the entry is committed and flushed; neither `kill -9` nor a power cut loses
 * it. The journal also remembers the last accepted version of each span identity, so that resends collapse exactly (see
 * domain/identity.ts); entry and memory commit in one transaction.
 */
export type Journal = {
  /**
   * Commits the rows of one request: NDJSON, each line with its line break. `isExemptFromShare`: for
   * work that was already done, such as a call of the gateway; only the total bound limits it, not the fair share of its
   * party. `party`: by default what `partyOf` returns.
   * @throws ServiceError `unavailable` if a bound is reached or the disk refuses
   */
  append(entry: {
    payload: Buffer;
    rows: number;
    identities: readonly IdentityWrite[];
    party?: string;
    hasResends?: boolean;
    isExemptFromShare?: boolean;
  }): Promise<JournalEntry>;
  /** The last accepted version of an identity, including those whose commit is in progress: see `settled`. */
  lookup(identity: Buffer): IdentityRecord | undefined;
  /** Whether identities were remembered when the journal was opened. */
  hasHistory: boolean;
  /** Whether an identity with this prefix (such as one of the same trace) was received before that time. */
  hasEarlier(prefix: Buffer, beforeNs: bigint): boolean;
  /** Milliseconds since the epoch: `lookup` knows every identity that was accepted from then on. */
  completeSinceMs(): number;
  /** Resolves once every append started so far is committed. @throws ServiceError `unavailable` if one fails */
  settled(): Promise<void>;
  /** Entries in order of acceptance, from `after` (exclusive), including those from before a crash. */
  pending(after: number, limit: number): JournalEntry[];
  /** The bytes of an entry; undefined once it is removed. */
  read(seq: number): Buffer | undefined;
  /**
   * Removes entries that the span store has, except those in `retention`. After a crash before the flush they are only
   * replayed.
   */
  remove(seqs: readonly number[], retention?: Retention): Promise<void>;
  /** Entries that are stored but still needed. They count neither as pending nor against the bounds of the journal. */
  retained: RetainedEntries;
  /**
   * Quarantines entries that the span store refuses, for an operator to inspect: accepted spans are never dropped. They
   * count against the byte bound of the journal.
   */
  quarantine(payload: Buffer, reason: string): Promise<void>;
  /**
   * Whether an organization without pending entries could append now, by the bounds and by the outcome of the last
   * write.
   */
  hasCapacity(): boolean;
  /** The bounds that parties share. */
  limits: { bytes: SharedLimit; places: SharedLimit };
  /**
   * `oldestMs`: how long the oldest entry has waited for the span store; entries of an earlier process count from the
   * start.
   */
  stats(): { entries: number; bytes: number; oldestMs: number; quarantined: number; quarantinedBytes: number };
  close(): Promise<void>;
};

/** `hasResends`: a row may share its key with a row that was accepted before, and is marked so. */
export type JournalEntry = { seq: number; rows: number; bytes: number; hasResends: boolean };

export type JournalOptions = {
  path: string;
  maxBytes: number;
  /** Each entry occupies memory in the queue to the store, however small it is. */
  maxEntries: number;
  /** The party that an entry belongs to: each party gets a fair share of both bounds. Default: one party for all. */
  partyOf?: (payload: Buffer) => string | undefined;
  /** An identity is remembered for at least this long, and at most twice as long. */
  identityMemoryMs: number;
  /** True if no journal has accepted a span before: then no earlier span can be resent. */
  isFirst?: boolean;
  now: () => number;
};

export function openJournal(options: JournalOptions): Journal {
  const database = openDatabase(options.path);
  const entries = openChunkedValues(database, { firstChunks: "entries", laterChunks: "entry-pieces" });

  let nextSeq = entries.lastKey() + 1;
  const capacity = createCapacity(options);
  const retained = openRetainedEntries(database, entries);
  const partyFor = (payload: Buffer): string => options.partyOf?.(payload) ?? "";
  for (const { key: seq, value } of entries.range(0)) {
    if (!retained.has(seq)) capacity.acquire(seq, partyFor(value), value.byteLength);
  }

  const memory = openIdentityMemory(database, options);
  const commits = createCommits(database, entries, memory);
  const quarantine = openQuarantine(database, options.now);
  let quarantined = quarantine.stats();

  return {
    async append(entry) {
      const { payload, rows, identities, hasResends = false, isExemptFromShare = false } = entry;
      const party = entry.party ?? partyFor(payload);
      const bounds = { isExemptFromShare, quarantinedBytes: quarantined.bytes };
      if (!capacity.tryAcquire(nextSeq, party, payload.byteLength, bounds)) {
        throw unavailable("The ingest journal is full: storage does not keep up. Try again later.");
      }
      const seq = nextSeq;
      nextSeq += 1;
      try {
        await commits.commit(seq, payload, identities);
      } catch (error) {
        capacity.release(seq);
        throw error;
      }
      return { seq, rows, bytes: payload.byteLength, hasResends };
    },
    lookup: (identity) => commits.lookup(identity),
    hasHistory: memory.hasHistory,
    hasEarlier: (prefix, beforeNs) => memory.hasEarlier(prefix, beforeNs),
    completeSinceMs: () => memory.completeSinceMs(),
    settled: () => commits.settled(),
    pending(after, limit) {
      const page: JournalEntry[] = [];
      for (const { key: seq, value: payload } of entries.range(after)) {
        if (retained.has(seq)) continue;
        // The store may have these rows already.
        page.push({ seq, rows: countLines(payload), bytes: payload.byteLength, hasResends: true });
        if (page.length === limit) break;
      }
      return page;
    },
    read: (seq) => entries.get(seq),
    async remove(seqs, retention = noRetention) {
      const needed = new Set(retention.entries.map(({ seq }) => seq));
      const removed = seqs.filter((seq) => !needed.has(seq));
      const removals = function* (): Iterable<number> {
        yield* retained.put(retention);
        for (const seq of removed) yield* entries.remove(seq);
      };
      const bytes = bytesToRemove(removed.map((seq) => capacity.bytesOf(seq))) + retained.bytesOf(retention);
      await database.remove(bytes, removals());
      retained.committed(retention);
      if (removed.length > 0) commits.spaceFreed();
      for (const seq of removed) entries.release(seq);
      for (const seq of seqs) capacity.release(seq);
    },
    retained,
    async quarantine(payload, reason) {
      await quarantine.add(payload, reason);
      quarantined = quarantine.stats();
    },
    hasCapacity: () => capacity.isAvailable(quarantined.bytes) && !commits.areRefused(),
    limits: capacity.limits,
    stats: () => ({ ...capacity.stats(), quarantined: quarantined.entries, quarantinedBytes: quarantined.bytes }),
    close: () => database.close(),
  };
}

/** A party without entries: organization ids are never empty. */
const newParty = "";

/** Accounts for the bounds of the journal, in bytes and entries, divided between parties. */
function createCapacity({ maxBytes, maxEntries, now }: Pick<JournalOptions, "maxBytes" | "maxEntries" | "now">) {
  /** In order of acceptance. */
  const pending = new Map<number, { party: string; bytes: number; sinceMs: number }>();
  const bytes = new FairShare(maxBytes);
  const places = new FairShare(maxEntries);

  return {
    /**
     * An entry is accepted while there is any capacity, whatever its size: one larger than all capacity would otherwise
     * wait forever. So the bound is exceeded by at most one entry.
     *
     * @param quarantinedBytes count against the bound too. False, and nothing acquired, if there is no capacity
     */
    tryAcquire(
      seq: number,
      party: string,
      size: number,
      { isExemptFromShare, quarantinedBytes }: { isExemptFromShare: boolean; quarantinedBytes: number },
    ): boolean {
      const max = maxBytes - quarantinedBytes;
      const hasCapacity = isExemptFromShare
        ? places.inUse < maxEntries && bytes.inUse < max
        : places.available(party) > 0 && bytes.available(party, max) > 0;
      if (hasCapacity) this.acquire(seq, party, size);
      else (places.available(party) > 0 ? bytes : places).note("refused");
      return hasCapacity;
    },
    /** Accounts for an entry that is in the journal, or will be. */
    acquire(seq: number, party: string, size: number): void {
      bytes.acquire(party, size);
      places.acquire(party, 1);
      pending.set(seq, { party, bytes: size, sinceMs: now() });
    },
    release(seq: number): void {
      const entry = pending.get(seq);
      if (entry === undefined) return;
      pending.delete(seq);
      bytes.release(entry.party, entry.bytes);
      places.release(entry.party, 1);
    },
    limits: { bytes, places },
    bytesOf: (seq: number) => pending.get(seq)?.bytes ?? 0,
    /** Whether a party without entries could acquire a hundredth of the total. */
    isAvailable: (quarantinedBytes: number) =>
      places.available(newParty) > 0 && bytes.available(newParty, maxBytes - quarantinedBytes) >= maxBytes / 100,
    stats() {
      const [oldest] = pending.values();
      const oldestMs = oldest === undefined ? 0 : Math.max(0, now() - oldest.sinceMs);
      return { entries: pending.size, bytes: bytes.inUse, oldestMs };
    },
  };
}

/** Identities are hashes: each goes to a page of its own, which is split now and then. */
const bytesPerIdentity = 5120;

const noRetention: Retention = { entries: [], missed: [] };

/** Commits in progress, each of an entry with its identities. */
function createCommits(database: JournalDatabase, entries: ChunkedValues, memory: IdentityMemory) {
  const inFlight = new Set<Promise<void>>();
  let isRefused = false;

  const write = async (seq: number, payload: Buffer, identities: readonly IdentityWrite[]): Promise<void> => {
    let remembered: ReturnType<IdentityMemory["remember"]> | undefined;
    try {
      const known = (remembered = memory.remember(identities));
      await database.add(payload.byteLength + identities.length * bytesPerIdentity, (chunkBytes) => {
        known.put();
        entries.put(seq, payload, chunkBytes);
      });
      known.succeeded();
      isRefused = false;
    } catch (error) {
      isRefused = true;
      remembered?.failed();
      entries.release(seq);
      throw unavailable(`The ingest journal cannot be written: ${describeWriteError(error)}. Try again later.`, error);
    }
  };

  return {
    async commit(seq: number, payload: Buffer, identities: readonly IdentityWrite[]): Promise<void> {
      const committed = write(seq, payload, identities);
      inFlight.add(committed);
      try {
        await committed;
      } finally {
        inFlight.delete(committed);
      }
    },
    async settled(): Promise<void> {
      await Promise.all(inFlight);
    },
    lookup: (identity: Buffer) => memory.lookup(identity),
    spaceFreed: () => void (isRefused = false),
    /** Whether the last entry was refused, and would be refused now. */
    areRefused: () => isRefused && !(isRefused = !database.canGrow()),
  };
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", message, { retryAfterS: 5, cause });
}

/** Rows are NDJSON lines; JSON text contains no raw line break. */
function countLines(payload: Buffer): number {
  let lines = 0;
  for (let at = payload.indexOf(0x0a); at !== -1; at = payload.indexOf(0x0a, at + 1)) lines += 1;
  return lines;
}
