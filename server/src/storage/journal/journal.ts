import { ServiceError } from "../../domain/errors.ts";
import { FairShare } from "../../lib/fair-share.ts";
import { bytesToRemove } from "./database-pages.ts";
import type { IdentityRecord } from "../../domain/identity.ts";
import { openIdentityMemory, type IdentityMemory, type IdentityWrite } from "./identity-memory.ts";
import { openDatabase, whyUnwritten, type JournalDatabase } from "./journal-database.ts";
import { openKeptEntries, type Keep, type KeptEntries } from "./kept-entries.ts";
import { openLongValues, type LongValues } from "./long-values.ts";
import { openQuarantine } from "./quarantine.ts";

/**
 * Accepted spans that the span store does not have yet, on this node's disk.
 *
 * The promise: when `append` resolves, the entry is committed and flushed; neither `kill -9` nor a power cut loses it.
 * The journal also remembers, per span identity, which version was accepted last, so that resends collapse
 * exactly (see ingest/identity.ts); entry and memory commit in one transaction.
 */
export type Journal = {
  /**
   * Commits one request's rows: NDJSON, each line with its line break. `isOwed`: of what was done already, such as a call
   * of the gateway; it is bounded by the whole, whatever its party's share.
   * @throws ServiceError `unavailable` when a bound is reached or the disk refuses.
   */
  append(entry: {
    payload: Buffer;
    rows: number;
    identities: readonly IdentityWrite[];
    hasResends?: boolean;
    isOwed?: boolean;
  }): Promise<JournalEntry>;
  /** The last accepted version of an identity, including those whose commit is still under way: see `settled`. */
  lookup(identity: Buffer): IdentityRecord | undefined;
  /** Whether identities were remembered when the journal was opened. */
  hasHistory: boolean;
  /** Whether an identity that begins with these bytes, such as one of the same trace, was received before that time. */
  hasEarlier(prefix: Buffer, beforeNs: bigint): boolean;
  /** Milliseconds since the epoch: `lookup` knows every identity that was accepted from then on. */
  completeSinceMs(): number;
  /** Resolves once every append begun so far is committed. @throws ServiceError `unavailable` when one is not. */
  settled(): Promise<void>;
  /** Entries in the order of acceptance, from `after` (exclusive); what a crash left is among them. */
  pending(after: number, limit: number): JournalEntry[];
  /** The bytes of an entry; undefined once it is removed. */
  read(seq: number): Buffer | undefined;
  /** Forgets entries that the span store has, but for those to keep. A crash before the flush only replays them. */
  remove(seqs: readonly number[], keep?: Keep): Promise<void>;
  /** Entries that are stored and still needed. They count neither as pending nor against the bounds of the journal. */
  kept: KeptEntries;
  /**
   * Sets entries aside that no store takes, for an operator to look at: nothing accepted is ever dropped. They count against
   * the byte bound of the journal, which they had room in before.
   */
  quarantine(payload: Buffer, reason: string): Promise<void>;
  /** Whether an organization that has nothing waiting could append now: by the bounds, and by what the disk took last. */
  hasRoom(): boolean;
  /** `oldestMs`: how long the oldest entry has waited for the span store, of what a restart found since then. */
  stats(): { entries: number; bytes: number; oldestMs: number; quarantined: number; quarantinedBytes: number };
  close(): Promise<void>;
};

/** `hasResends`: a row of it may share its key with one that was accepted before, and says so. */
export type JournalEntry = { seq: number; rows: number; bytes: number; hasResends: boolean };

export type JournalOptions = {
  path: string;
  maxBytes: number;
  /** Each entry costs memory in the queue to the store, however few bytes it has. */
  maxEntries: number;
  /** Whose an entry is: of both bounds each gets a fair share. Default: all are one's. */
  partyOf?: (payload: Buffer) => string | undefined;
  /** How long an identity is remembered at least; twice that at most. */
  identityMemoryMs: number;
  /** That no span was accepted before, by whatever journal: then nothing of old can be sent again. */
  isFirst?: boolean;
  now: () => number;
};

export function openJournal(options: JournalOptions): Journal {
  const database = openDatabase(options.path);
  const entries = openLongValues(database, { firsts: "entries", others: "entry-pieces" });

  let nextSeq = entries.lastKey() + 1;
  const room = createRoom(options);
  const kept = openKeptEntries(database, entries);
  for (const { key: seq, value } of entries.range(0)) if (!kept.has(seq)) room.hold(seq, value);

  const memory = openIdentityMemory(database, options);
  const commits = createCommits(database, entries, memory);
  const quarantine = openQuarantine(database, options.now);

  return {
    async append({ payload, rows, identities, hasResends = false, isOwed = false }) {
      if (!room.take(nextSeq, payload, { isOwed, asideBytes: quarantine.stats().bytes })) {
        throw unavailable("The ingest journal is full: storage does not keep up. Try again later.");
      }
      const seq = nextSeq;
      nextSeq += 1;
      try {
        await commits.commit(seq, payload, identities);
      } catch (error) {
        room.release(seq);
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
        if (kept.has(seq)) continue;
        // Whether the store has them already is not known.
        page.push({ seq, rows: countLines(payload), bytes: payload.byteLength, hasResends: true });
        if (page.length === limit) break;
      }
      return page;
    },
    read: (seq) => entries.get(seq),
    async remove(seqs, keep = nothing) {
      const needed = new Set(keep.entries.map(({ seq }) => seq));
      const removed = seqs.filter((seq) => !needed.has(seq));
      const removals = function* (): Iterable<number> {
        yield* kept.put(keep);
        for (const seq of removed) yield* entries.remove(seq);
      };
      const bytes = bytesToRemove(removed.map((seq) => room.bytesOf(seq))) + kept.bytesOf(keep);
      await database.clear(bytes, removals());
      kept.committed(keep);
      if (removed.length > 0) commits.roomMade();
      for (const seq of removed) entries.forget(seq);
      for (const seq of seqs) room.release(seq);
    },
    kept,
    quarantine: (payload, reason) => quarantine.add(payload, reason),
    hasRoom: () => room.isOpen(quarantine.stats().bytes) && !commits.areRefused(),
    stats() {
      const aside = quarantine.stats();
      return { ...room.stats(), quarantined: aside.entries, quarantinedBytes: aside.bytes };
    },
    close: () => database.close(),
  };
}

/** Holds nothing: organizations have names. */
const newcomer = "";

/** What entries hold of the bounds of the journal, whose bytes and number are divided between parties. */
function createRoom({
  maxBytes,
  maxEntries,
  partyOf,
  now,
}: Pick<JournalOptions, "maxBytes" | "maxEntries" | "partyOf" | "now">) {
  /** In the order of acceptance. */
  const held = new Map<number, { party: string; bytes: number; sinceMs: number }>();
  const bytes = new FairShare(maxBytes);
  const places = new FairShare(maxEntries);
  const ownerOf = (payload: Buffer): string => partyOf?.(payload) ?? "";

  return {
    /** @param asideBytes what else the byte bound counts. False, and nothing taken, when there is no room. */
    take(seq: number, payload: Buffer, { isOwed, asideBytes }: { isOwed: boolean; asideBytes: number }): boolean {
      const party = ownerOf(payload);
      const size = payload.byteLength;
      const most = maxBytes - asideBytes;
      if (isOwed ? places.held >= maxEntries : places.room(party) === 0) return false;
      if (!(isOwed ? bytes.takeWhole(party, size, most) : bytes.take(party, size, most))) return false;
      places.add(party, 1);
      held.set(seq, { party, bytes: payload.byteLength, sinceMs: now() });
      return true;
    },
    /** What an earlier process took. */
    hold(seq: number, payload: Buffer): void {
      const party = ownerOf(payload);
      bytes.add(party, payload.byteLength);
      places.add(party, 1);
      held.set(seq, { party, bytes: payload.byteLength, sinceMs: now() });
    },
    release(seq: number): void {
      const entry = held.get(seq);
      if (entry === undefined) return;
      held.delete(seq);
      bytes.giveBack(entry.party, entry.bytes);
      places.giveBack(entry.party, 1);
    },
    bytesOf: (seq: number) => held.get(seq)?.bytes ?? 0,
    /** Whether a party that holds nothing could take a hundredth of the whole. */
    isOpen: (asideBytes: number) => places.room(newcomer) > 0 && bytes.room(newcomer) - asideBytes >= maxBytes / 100,
    stats() {
      const [oldest] = held.values();
      const oldestMs = oldest === undefined ? 0 : Math.max(0, now() - oldest.sinceMs);
      return { entries: held.size, bytes: bytes.held, oldestMs };
    },
  };
}

/** Identities are hashes: each goes to a page of its own, and now and then one of those is split. */
const identityRoomBytes = 5120;

const nothing: Keep = { entries: [], missed: [] };

/** Entries on their way to the disk, each with what is to be remembered of its identities. */
function createCommits(database: JournalDatabase, entries: LongValues, memory: IdentityMemory) {
  const underWay = new Set<Promise<void>>();
  let isRefused = false;

  const write = async (seq: number, payload: Buffer, identities: readonly IdentityWrite[]): Promise<void> => {
    let remembered: ReturnType<IdentityMemory["remember"]> | undefined;
    try {
      const known = (remembered = memory.remember(identities));
      await database.add(payload.byteLength + identities.length * identityRoomBytes, (pieceBytes) => {
        known.put();
        entries.put(seq, payload, pieceBytes);
      });
      known.succeeded();
      isRefused = false;
    } catch (error) {
      isRefused = true;
      remembered?.failed();
      entries.forget(seq);
      throw unavailable(`The ingest journal cannot be written: ${whyUnwritten(error)}. Try again later.`, error);
    }
  };

  return {
    async commit(seq: number, payload: Buffer, identities: readonly IdentityWrite[]): Promise<void> {
      const committed = write(seq, payload, identities);
      underWay.add(committed);
      try {
        await committed;
      } finally {
        underWay.delete(committed);
      }
    },
    async settled(): Promise<void> {
      await Promise.all(underWay);
    },
    lookup: (identity: Buffer) => memory.lookup(identity),
    roomMade: () => void (isRefused = false),
    /** Whether the last entry was, and still would be. */
    areRefused: () => isRefused && !(isRefused = !database.canGrow()),
  };
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", message, { retryAfterS: 5, cause });
}

/** Rows are NDJSON lines; JSON text holds no raw line break. */
function countLines(payload: Buffer): number {
  let lines = 0;
  for (let at = payload.indexOf(0x0a); at !== -1; at = payload.indexOf(0x0a, at + 1)) lines += 1;
  return lines;
}
