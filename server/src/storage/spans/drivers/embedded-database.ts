import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import type * as Chdb from "chdb";
import type { Session } from "chdb";
import { freeBytes } from "../../../lib/free-bytes.ts";
import { storageLimits } from "../../limits.ts";
import { bindLiterals } from "./bind-literals.ts";
import { asInsertError, asReadError } from "./engine-errors.ts";
import { releaseMemory } from "./memory-release.ts";
import { createEmbeddedStream } from "./embedded-stream.ts";
import { killOnAbort } from "./kill-on-abort.ts";
import { createInsertFile } from "./insert-file.ts";
import { createProbeCache, trackSideTables, createResendTracker } from "./write-watches.ts";
import { createMergePause } from "./merge-pause.ts";
import { createPassMemory } from "./pass-memory.ts";
import { createQueryGate, queryLimitNames, type GateObservers } from "./query-gate.ts";
import { rawFormat, rawSettings, readRawRows, readRows } from "./read-rows.ts";
import type { SpanBatch } from "../span-store.ts";
import type { QueryBounds, QueryResult, SpanDatabase, SpanDatabaseOptions, Statement } from "./span-database.ts";
import {
  buildSettings,
  insertSettings,
  readSettings,
  upkeepBounds,
  upkeepStatement,
  withSettings,
} from "./span-database.ts";

// The defaults are sized for a dedicated server: mark and index caches of gigabytes, and nine tenths of the memory.
const startArguments = [
  `--mark_cache_size=${storageLimits.embeddedMarkCacheBytes}`,
  `--primary_index_cache_size=${storageLimits.embeddedMarkCacheBytes}`,
  `--index_mark_cache_size=${storageLimits.embeddedMarkCacheBytes}`,
  `--uncompressed_cache_size=${storageLimits.embeddedBlockCacheBytes}`,
  "--max_server_memory_usage_to_ram_ratio=0.7",
];

/**
 * ClickHouse inside the process (chDB). One data folder per process; a second store may open the same one.
 *
 * A connection runs one statement at a time, so reads have several; inserts, deletes and kills each have their own. A
 * running statement occupies a thread of libuv's pool: UV_THREADPOOL_SIZE must leave room for file access.
 */
export function openEmbeddedDatabase(path: string, options: SpanDatabaseOptions = {}): SpanDatabase {
  const { Session, drainPending } = loadEngine();
  // Only a session takes start arguments. It stays open so that the engine runs as long as the store.
  const engine = openEngine(Session, path);
  const connect = () => new Session(path);
  const bounds: QueryBounds = { ...defaultBounds, ...options.bounds };
  const maintenance = connect();
  const control = connect();
  const memory = releaseMemory(connect());
  const merges = createMergePause(connect());
  const [inserts, builds] = [connect(), connect()];
  const insertFile = createInsertFile(path);
  const { track, settled } = createTracker();
  const [resends, probes] = [createResendTracker(), createProbeCache()];
  const { during, ...sideTables } = trackSideTables();

  const read = { connect, control, track, ...options };
  const [reads, upkeep] = [createReads(bounds, read, queryLimitNames), createReads(upkeepBounds, read)];
  const reply = (statement: Statement, format: Format, signal?: AbortSignal): Promise<Buffer> =>
    reads.reply(statement, format, signal, () => {
      if (statement !== ping) merges.sawRead();
    });

  const stream = createEmbeddedStream({ path, connect, control, track, merges, ...options });
  const query = async (statement: Statement, signal?: AbortSignal): Promise<QueryResult> =>
    readRows(textOf(await reply(statement, "JSON", signal)));

  return {
    cluster: null,
    database: "default",
    passes: createPassMemory(options.sumsFromSpans),
    resends,
    probes,
    ...sideTables,
    query,
    queryRaw: async ({ settings, ...statement }, signal) =>
      readRawRows(await reply({ ...statement, settings: { ...settings, ...rawSettings } }, rawFormat, signal)),
    upkeep: async (statement, signal) =>
      readRows(textOf(await upkeep.reply(upkeepStatement(statement), "JSON", signal))),
    stream,
    execute: async (statement) => {
      const sql = withSettings(bindLiterals(statement.sql, statement.params ?? {}), statement.settings ?? {});
      const run = () => probes.during(() => resends.during(() => maintenance.queryAsync(sql)));
      await track(merges.without(run)).catch(throwReadError);
    },
    build: async ({ sql, params = {} }) => {
      await track(builds.queryAsync(withSettings(bindLiterals(sql, params), buildSettings)));
    },
    insert: async (batch) => {
      const insert = () =>
        batch.ndjson.length < storageLimits.insertFileBytes
          ? insertRows(inserts, batch)
          : insertFile.lend(batch.ndjson, (file) => insertRows(inserts, batch, file));
      const write = () => probes.during(() => during(batch.table, insert));
      await track(batch.hasResends === true ? resends.during(write) : write()).catch(throwInsertError);
    },
    ping: async (signal) => {
      await query(ping, signal);
    },
    close: async () => {
      await memory.stop();
      await settled();
      await merges.stop();
      await insertFile.close();
      const own = [maintenance, control, inserts, builds, engine];
      for (const session of [...reads.all(), ...upkeep.all(), ...own]) session.close();
      await drainPending();
    },
  };
}

/** The message tells the operator what to do. */
export class SpanStoreUnopened extends Error {}

/** Loaded on demand: installations that use a server can leave out the package, which is most of their size. */
function loadEngine(): typeof Chdb {
  try {
    return createRequire(import.meta.url)("chdb") as typeof Chdb;
  } catch (cause) {
    const remedy = "set SPANWAY_SPANS_URL to a ClickHouse server, or install the package chdb.";
    throw new SpanStoreUnopened(`This installation has no embedded span store: ${remedy}`, { cause });
  }
}

function openEngine(Session: typeof Chdb.Session, path: string): Session {
  mkdirSync(path, { recursive: true });
  try {
    return new Session(path, { connectionArgs: startArguments });
  } catch (cause) {
    const message = `The span store ${path} cannot be opened: another process uses it, or its files are damaged.`;
    throw new SpanStoreUnopened(message, { cause });
  }
}

const defaultBounds: QueryBounds = {
  timeMs: storageLimits.queryTimeMs,
  memoryBytes: storageLimits.queryMemoryBytes,
  inFlight: storageLimits.embeddedQueriesInFlight,
  queued: storageLimits.queriesQueued,
};

/** Health checks run it all the time, so it does not count as a read. */
const ping: Statement = { name: "ping", sql: "SELECT 1" };

/** Tracks running work. */
function createTracker(): { track: <T>(work: Promise<T>) => Promise<T>; settled: () => Promise<unknown> } {
  const running = new Set<Promise<unknown>>();
  return {
    track: (work) => {
      const settled = Promise.allSettled([work]);
      running.add(settled);
      void settled.then(() => running.delete(settled));
      return work;
    },
    settled: () => Promise.all(running),
  };
}

/** Decodes a reply and frees its memory. */
function textOf(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  freeBytes(bytes);
  return text;
}

/** @param file has the rows; if undefined, they are sent in the text of the statement */
async function insertRows(session: Session, batch: SpanBatch, file?: string): Promise<void> {
  const table = batch.table ?? "spans";
  const settings = insertSettings(batch.token);
  if (file === undefined) await session.insert({ table, values: batch.ndjson, format: "JSONEachRow", settings });
  else {
    const insert = withSettings(`INSERT INTO ${table} FROM INFILE '${file}'`, settings);
    await session.queryAsync(`${insert} FORMAT JSONEachRow`);
  }
}

type Format = "JSON" | typeof rawFormat;

type ReadParts = {
  connect: () => Session;
  control: Session;
  track: <T>(work: Promise<T>) => Promise<T>;
} & GateObservers;

/** Runs reads with shared connections and bounds. */
function createReads(
  bounds: QueryBounds,
  { connect, control, track, ...observers }: ReadParts,
  names?: typeof queryLimitNames,
) {
  const readers = createReaders(bounds.inFlight, connect);
  const withinBounds = createQueryGate(bounds, observers, names);
  const prepared = new WeakSet<Session>();
  const run = async (session: Session, statement: Statement, format: Format, tag: string): Promise<Buffer> => {
    // The text includes the values, so it may be long. This setting does not work inside the statement that it applies
    // to.
    if (!prepared.has(session)) await session.queryAsync(`SET max_query_size = ${storageLimits.queryTextBytes}`);
    prepared.add(session);
    const bound = bindLiterals(statement.sql, statement.params ?? {});
    const settings = { ...readSettings(bounds), use_uncompressed_cache: 1, ...statement.settings, log_comment: tag };
    const result = (await session.queryAsync(withSettings(bound, settings), { format })).bytes();
    return Buffer.from(result.buffer, result.byteOffset, result.byteLength);
  };
  const reply = (
    statement: Statement,
    format: Format,
    signal?: AbortSignal,
    onTurn: () => void = () => undefined,
  ): Promise<Buffer> =>
    withinBounds(statement, signal, async () => {
      onTurn();
      const session = readers.take();
      const tag = randomUUID();
      try {
        const result = await track(killOnAbort(run(session, statement, format, tag), tag, control, signal));
        readers.release(session);
        return result;
      } catch (error) {
        readers.replace(session);
        throw error;
      }
    });
  return { reply, all: () => readers.all() };
}

type Readers = {
  take(): Session;
  release(session: Session): void;
  replace(session: Session): void;
  all(): Iterable<Session>;
};

/**
 * Connections for reads. After a failed statement, a connection is never used again: chDB keeps what the statement had
 * written of its result, and puts it before the result of the next one, which may belong to another organization.
 */
function createReaders(count: number, connect: () => Session): Readers {
  const open = new Set(Array.from({ length: count }, connect));
  const idle = [...open];
  return {
    take() {
      const session = idle.pop();
      if (session === undefined) throw new Error("more queries run than there are connections");
      return session;
    },
    release(session) {
      idle.push(session);
    },
    replace(session) {
      const fresh = connect();
      open.delete(session);
      open.add(fresh);
      idle.push(fresh);
      session.close();
    },
    all: () => open,
  };
}

function throwReadError(error: unknown): never {
  throw asReadError(error);
}

function throwInsertError(error: unknown): never {
  throw asInsertError(error);
}
