import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import {
  ClickHouseLogLevel,
  createClient,
  type ClickHouseClient,
  type ClickHouseClientConfigOptions,
} from "@clickhouse/client";
import { storageLimits } from "../../limits.ts";
import { asInsertError, asReadError, orUnreachable } from "./engine-errors.ts";
import { createPassMemory } from "./pass-memory.ts";
import { createQueryGate, queryLimitNames, type GateObservers } from "./query-gate.ts";
import { rawFormat, rawSettings, readRawRows, readRows } from "./read-rows.ts";
import type {
  EngineSettings,
  QueryBounds,
  RawRows,
  SpanDatabase,
  SpanDatabaseOptions,
  Statement,
} from "./span-database.ts";
import { createHttpStream } from "./http-stream.ts";
import {
  buildSettings,
  insertSettings,
  readSettings,
  upkeepBounds,
  upkeepStatement,
  withSettings,
} from "./span-database.ts";

export type HttpLocation = {
  /** The origin only, such as `https://clickhouse:8443`. */
  url: string;
  username: string;
  password: string;
  database: string;
  cluster: string | null;
  /** Settings for inserts, by the engine's names. */
  inserts?: Record<string, string>;
};

// Without it the server streams, and an error in the middle of a response becomes part of it.
const completeReply = { wait_end_of_query: 1 } as const;

/** A ClickHouse server or cluster over HTTP. */
export function openHttpDatabase(location: HttpLocation, options: SpanDatabaseOptions = {}): SpanDatabase {
  const { url, username, password, database, cluster, inserts } = location;
  const bounds: QueryBounds = {
    timeMs: storageLimits.queryTimeMs,
    memoryBytes: storageLimits.queryMemoryBytes,
    inFlight: storageLimits.queriesInFlight,
    queued: storageLimits.queriesQueued,
    ...options.bounds,
  };
  // Errors are thrown, and callers log them. The client would print them to the console, with the statement.
  const log = { level: ClickHouseLogLevel.OFF };
  const server = { url, username, password, log, database, compression: { request: false, response: true } };
  const reads = openReads(server, { bounds, connections: storageLimits.spanHttpConnections }, options, queryLimitNames);
  const upkeep = openReads(server, { bounds: upkeepBounds, connections: upkeepBounds.inFlight }, options);
  const writes = createClient({
    ...server,
    request_timeout: storageLimits.spanInsertTimeMs,
    use_multipart_params_auto: true,
  });
  const exports = createHttpStream({ url, username, password, log, database }, options);
  // A row leaves the journal only when it is stored, even if the server collects inserts. On a cluster, a distributed
  // table would otherwise respond before its shards have the rows or the deletion.
  const inserting: EngineSettings = { wait_for_async_insert: 1, ...inserts };
  const clustered: EngineSettings = cluster === null ? {} : { distributed_foreground_insert: 1, insert_quorum: 0 };

  const execute = (statement: Statement): Promise<void> =>
    executeOn(writes, statement).catch((error: unknown) => {
      throw asReadError(orUnreachable(error));
    });

  const open: SpanDatabase = {
    cluster,
    database,
    passes: createPassMemory(options.sumsFromSpans),
    query: (statement, signal) => reads.read(statement, "JSON", readRows, signal),
    queryRaw: ({ settings, ...statement }, signal) =>
      reads.read({ ...statement, settings: { ...settings, ...rawSettings } }, rawFormat, rawRowsOf, signal),
    upkeep: (statement, signal) => upkeep.read(upkeepStatement(statement), "JSON", readRows, signal),
    stream: exports.stream,
    execute,
    build: (statement) => execute({ ...statement, settings: { ...buildSettings, ...clustered } }),
    insert: async (batch, signal) => {
      try {
        const result = await writes.exec({
          query: `${withSettings(`INSERT INTO ${batch.table ?? "spans"}`, { ...insertSettings(batch.token), ...clustered, ...inserting })} FORMAT JSONEachRow`,
          values: Readable.from([batch.ndjson], { objectMode: false }),
          clickhouse_settings: completeReply,
          ...(signal ? { abort_signal: signal } : {}),
        });
        // The response is empty, but the connection is only free after it has been read.
        result.stream.resume();
      } catch (error) {
        throw asInsertError(error);
      }
    },
    ping: async (signal) => {
      await reads.read({ name: "ping", sql: "SELECT 1" }, "JSON", readRows, signal);
    },
    close: async () => {
      await Promise.all([reads.close(), upkeep.close(), exports.close(), writes.close()]);
    },
  };
  return endsBeforeClose(open, options.closeGraceMs ?? storageLimits.spanCloseGraceMs);
}

/** Lets statements that run end before `close`, for at most `graceMs`; `close` aborts the others. */
function endsBeforeClose(database: SpanDatabase, graceMs: number): SpanDatabase {
  const running = new Set<Promise<unknown>>();
  const counted = <T>(work: Promise<T>): Promise<T> => {
    const leave = () => void running.delete(ended);
    const ended: Promise<void> = work.then(leave, leave);
    running.add(ended);
    return work;
  };
  return {
    ...database,
    query: (...given) => counted(database.query(...given)),
    queryRaw: (...given) => counted(database.queryRaw(...given)),
    upkeep: (...given) => counted(database.upkeep(...given)),
    stream: (...given) => counted(database.stream(...given)),
    execute: (...given) => counted(database.execute(...given)),
    build: (...given) => counted(database.build(...given)),
    insert: (...given) => counted(database.insert(...given)),
    ping: (...given) => counted(database.ping(...given)),
    close: async () => {
      const isLate = new AbortController();
      const late = sleep(graceMs, undefined, { signal: isLate.signal }).catch(() => undefined);
      await Promise.race([Promise.all(running), late]);
      isLate.abort();
      await database.close();
    },
  };
}

type Format = "JSON" | typeof rawFormat;

/** Runs reads with shared connections and bounds. */
function openReads(
  server: ClickHouseClientConfigOptions,
  { bounds, connections }: { bounds: QueryBounds; connections: number },
  observers: GateObservers,
  names?: typeof queryLimitNames,
) {
  const client = createClient({
    ...server,
    max_open_connections: connections,
    request_timeout: bounds.timeMs + storageLimits.queryReplyGraceMs,
    use_multipart_params_auto: true,
  });
  const withinBounds = createQueryGate(bounds, observers, names);
  const reply = async (statement: Statement, format: Format, signal?: AbortSignal): Promise<string> => {
    try {
      const result = await client.query({
        query: withSettings(statement.sql, { ...readSettings(bounds), ...statement.settings }),
        query_params: { ...statement.params },
        format,
        clickhouse_settings: completeReply,
        ...(signal ? { abort_signal: signal } : {}),
      });
      return await result.text();
    } catch (error) {
      throw orUnreachable(error);
    }
  };
  return {
    read: <T>(statement: Statement, format: Format, parse: (text: string) => T, signal?: AbortSignal): Promise<T> =>
      withinBounds(statement, signal, async () => parse(await reply(statement, format, signal))),
    close: () => client.close(),
  };
}

/** The client returns text, not bytes. */
function rawRowsOf(text: string): RawRows {
  return readRawRows(Buffer.from(text));
}

async function executeOn(client: ClickHouseClient, { sql, params, settings = {} }: Statement): Promise<void> {
  await client.command({
    query: withSettings(sql, settings),
    query_params: { ...params },
    clickhouse_settings: completeReply,
  });
}
