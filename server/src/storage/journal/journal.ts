import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { open, type Database, type RootDatabase } from "lmdb";
import { ServiceError } from "../../domain/errors.ts";

/**
 * Accepted spans that the span store does not have yet, on this node's disk.
 *
 * The promise: when `append` resolves, the entry is committed and flushed; neither `kill -9` nor a power cut loses it.
 * The journal also remembers, per span identity, which version was accepted last, so that resends collapse
 * exactly (see ingest/identity.ts); entry and memory commit in one transaction.
 */
export type Journal = {
  /**
   * Commits one request's rows: NDJSON, each line with its line break.
   * @throws ServiceError `unavailable` when the byte bound is reached or the disk refuses.
   */
  append(entry: { payload: Buffer; rows: number; identities: readonly IdentityWrite[] }): Promise<JournalEntry>;
  /** The last accepted version of an identity, including those whose commit is still under way: see `settled`. */
  lookup(identity: Buffer): IdentityRecord | undefined;
  /** Resolves once every append begun so far is committed. @throws ServiceError `unavailable` when one is not. */
  settled(): Promise<void>;
  /** Entries in the order of acceptance, from `after` (exclusive); what a crash left is among them. */
  pending(after: number, limit: number): JournalEntry[];
  /** The bytes of an entry; undefined once it is removed. */
  read(seq: number): Buffer | undefined;
  /** Forgets entries that the span store has. A crash before the flush only replays them. */
  remove(seqs: readonly number[]): Promise<void>;
  /** Sets entries aside that no store takes, for an operator to look at: nothing accepted is ever dropped. */
  quarantine(payload: Buffer, reason: string): Promise<void>;
  stats(): { entries: number; bytes: number; quarantined: number };
  close(): Promise<void>;
};

export type JournalEntry = { seq: number; rows: number; bytes: number };

/** `timestampNs` and `version` are the accepted row's own. */
export type IdentityRecord = { timestampNs: bigint; version: bigint };
export type IdentityWrite = { identity: Buffer } & IdentityRecord;

export type JournalOptions = {
  path: string;
  maxBytes: number;
  /** How long an identity is remembered at least; twice that at most. */
  identityMemoryMs: number;
  now: () => number;
};

const identityOverlapMs = 50;

export function openJournal(options: JournalOptions): Journal {
  const root = openDatabase(options.path);
  const entries = root.openDB<Buffer, number>({ name: "entries", encoding: "binary" });
  const quarantined = root.openDB<Buffer, number>({ name: "quarantine", encoding: "binary" });
  const memory = openIdentityMemory(root, options);

  const sizes = new Map<number, number>();
  let nextSeq = 1;
  let pendingBytes = 0;
  const hold = (seq: number, bytes: number): void => {
    nextSeq = Math.max(nextSeq, seq + 1);
    sizes.set(seq, bytes);
    pendingBytes += bytes;
  };
  const release = (seq: number): void => {
    pendingBytes -= sizes.get(seq) ?? 0;
    sizes.delete(seq);
  };
  for (const { key, value } of entries.getRange()) hold(key, value.byteLength);

  const commits = new Set<Promise<void>>();
  const commit = async (seq: number, payload: Buffer, identities: readonly IdentityWrite[]): Promise<void> => {
    const written = memory.remember(identities);
    try {
      // Puts of one event turn share a transaction: this promise covers the identities too.
      await entries.put(seq, payload);
      written.succeeded();
    } catch (error) {
      written.failed();
      throw unavailable("The ingest journal cannot be written. Try again later.", error);
    }
  };

  return {
    async append({ payload, rows, identities }) {
      if (pendingBytes + payload.byteLength > options.maxBytes) {
        throw unavailable("The ingest journal is full: storage does not keep up. Try again later.");
      }
      const seq = nextSeq;
      hold(seq, payload.byteLength);
      const committed = commit(seq, payload, identities);
      commits.add(committed);
      try {
        await committed;
      } catch (error) {
        release(seq);
        throw error;
      } finally {
        commits.delete(committed);
      }
      return { seq, rows, bytes: payload.byteLength };
    },
    lookup: (identity) => memory.lookup(identity),
    async settled() {
      await Promise.all(commits);
    },
    pending(after, limit) {
      return Array.from(entries.getRange({ start: after + 1, limit }), ({ key, value }) => ({
        seq: key,
        rows: countLines(value),
        bytes: value.byteLength,
      }));
    },
    read: (seq) => entries.get(seq),
    async remove(seqs) {
      await Promise.all(seqs.map((seq) => entries.remove(seq)));
      for (const seq of seqs) release(seq);
    },
    async quarantine(payload, reason) {
      const note = Buffer.from(`${JSON.stringify({ at: new Date(options.now()).toISOString(), reason })}\n`);
      await quarantined.put(options.now() * 1000 + Math.floor(Math.random() * 1000), Buffer.concat([note, payload]));
    },
    stats: () => ({ entries: sizes.size, bytes: pendingBytes, quarantined: quarantined.getKeysCount() }),
    async close() {
      await root.flushed;
      await root.close();
    },
  };
}

/** @throws Error that names the path */
function openDatabase(path: string): RootDatabase {
  refuseForeignFile(join(path, "data.mdb"));
  try {
    return open({
      path,
      maxDbs: 16,
      // Without overlapping, the promise of a put resolves after the flush: that is the journal's promise too.
      overlappingSync: false,
      compression: false,
    });
  } catch (cause) {
    throw new Error(`The journal ${path} cannot be opened.`, { cause });
  }
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", message, { retryAfterS: 5, cause });
}

const lmdbMagic = 0xbeefc0de;
const lmdbMagicOffset = 24;
const lmdbBytesMin = 2 * 4096;

/** The library crashes the process on a file that is not its own, or that was cut off. */
function refuseForeignFile(path: string): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined || file.size === 0) return;
  const head = Buffer.alloc(lmdbMagicOffset + 4);
  const descriptor = openSync(path, "r");
  readSync(descriptor, head);
  closeSync(descriptor);
  if (file.size < lmdbBytesMin || head.readUInt32LE(lmdbMagicOffset) !== lmdbMagic) {
    throw new Error(
      `The journal ${path} is damaged. Set it aside to start with an empty one; what it holds is not stored.`,
    );
  }
}

/** Rows are NDJSON lines; JSON text holds no raw line break. */
function countLines(payload: Buffer): number {
  let lines = 0;
  for (let at = payload.indexOf(0x0a); at !== -1; at = payload.indexOf(0x0a, at + 1)) lines += 1;
  return lines;
}

type IdentityMemory = {
  lookup(identity: Buffer): IdentityRecord | undefined;
  /** Writes the records; one of the returned functions is to be called once the transaction has ended. */
  remember(identities: readonly IdentityWrite[]): { succeeded(): void; failed(): void };
};

/**
 * Two generations of a map identity → version; the older one is dropped whole when a new one begins,
 * so that the memory is bounded by time without ever scanning it.
 */
function openIdentityMemory(root: RootDatabase, { identityMemoryMs, now }: JournalOptions): IdentityMemory {
  const uncommitted = new Map<string, IdentityRecord>();
  const openGeneration = (generation: number): Database<Buffer, Buffer> =>
    root.openDB<Buffer, Buffer>({ name: `identity-${generation}`, encoding: "binary", keyEncoding: "binary" });
  const generationAt = (): number => Math.floor(now() / identityMemoryMs);

  let generation = generationAt();
  dropOldGenerations(root, generation);
  let current = openGeneration(generation);
  let previous = openGeneration(generation - 1);

  const rotate = (): void => {
    const next = generationAt();
    if (next === generation) return;
    generation = next;
    dropOldGenerations(root, generation);
    current = openGeneration(generation);
    previous = openGeneration(generation - 1);
  };

  return {
    lookup(identity) {
      const fresh = uncommitted.get(identity.toString("latin1"));
      if (fresh) return fresh;
      const stored = current.getBinaryFast(identity) ?? previous.getBinaryFast(identity);
      return stored && { timestampNs: stored.readBigInt64LE(0), version: stored.readBigUInt64LE(8) };
    },
    remember(identities) {
      rotate();
      for (const { identity, timestampNs, version } of identities) {
        const record = Buffer.allocUnsafe(16);
        record.writeBigInt64LE(timestampNs, 0);
        record.writeBigUInt64LE(version, 8);
        uncommitted.set(identity.toString("latin1"), { timestampNs, version });
        // The entry's own put, later in the same transaction, tells of a failure.
        current.put(identity, record).catch(() => undefined);
      }
      const forget = (): void => {
        for (const { identity, version } of identities) {
          const key = identity.toString("latin1");
          if (uncommitted.get(key)?.version === version) uncommitted.delete(key);
        }
      };
      // A read of this very event turn may still see the snapshot before the commit.
      return { succeeded: () => void setTimeout(forget, identityOverlapMs).unref(), failed: forget };
    },
  };
}

function dropOldGenerations(root: RootDatabase, generation: number): void {
  for (const name of root.getKeys({ start: "identity-", end: "identity-~" })) {
    const number = Number(String(name).slice("identity-".length));
    if (number < generation - 1) void root.openDB({ name: String(name), encoding: "binary" }).drop();
  }
}
