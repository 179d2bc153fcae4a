import type { Session } from "chdb";
import { randomUUID } from "node:crypto";
import { statfs } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../../domain/errors.ts";
import { storageLimits } from "../../limits.ts";
import type { ExportFormat, WriteBytes } from "../span-export.ts";
import { openNameless } from "./insert-file.ts";
import { bindLiterals } from "./bind-literals.ts";
import { killOnAbort } from "./kill-on-abort.ts";
import type { MergePause } from "./merge-pause.ts";
import { createQueryGate, exportGate, exportLimitNames, type GateObservers } from "./query-gate.ts";
import type { EngineSettings, SpanDatabase } from "./span-database.ts";
import { streamFormats, streamSettings, withSettings } from "./span-database.ts";

/** A statement, with its values in the text, on a connection of its own. If `take` fails, the signal is aborted. */
type Streamed = { session: Session; sql: string; settings: EngineSettings; take: WriteBytes };
type Write = (streamed: Streamed, signal: AbortSignal) => Promise<void>;

type Engine = {
  /** The data folder. */
  path: string;
  connect: () => Session;
  /** The connection for kills. */
  control: Session;
  /** Keeps the engine open until the work is done. */
  track: (work: Promise<void>) => Promise<void>;
  merges: Pick<MergePause, "sawRead">;
} & GateObservers;

/**
 * `SpanDatabase.stream` of chDB. Each export has its own connection, because a connection runs one statement at a time.
 */
export function createEmbeddedStream({
  path,
  connect,
  control,
  track,
  merges,
  ...observers
}: Engine): SpanDatabase["stream"] {
  const withinExports = createQueryGate(exportGate, observers, exportLimitNames);
  return (statement, format, take, signal) =>
    withinExports(statement, signal, async () => {
      merges.sawRead();
      const session = connect();
      try {
        await session.queryAsync(`SET max_query_size = ${storageLimits.queryTextBytes}`);
        const tag = randomUUID();
        const sql = bindLiterals(statement.sql, statement.params ?? {});
        const settings: EngineSettings = { ...streamSettings(format), ...statement.settings, log_comment: tag };
        settings["max_block_size"] = await blockRows(session, Number(settings["max_block_size"]));
        const write = format === "parquet" ? writeThroughFile(path) : writeChunks(format);
        await untilRefused(format === "parquet" ? withRoom(path, take) : take, signal, async (writeBytes, ended) => {
          await track(killOnAbort(write({ session, sql, settings, take: writeBytes }, ended), tag, control, ended));
        });
      } finally {
        session.close();
      }
    });
}

/**
 * Returns the most rows of a block, at most `most`. The engine does not know how large the rows of freshly inserted
 * parts are and reads as many as it may: if they are large, one block would take several times the memory of all
 * exports together.
 */
async function blockRows(session: Session, most: number): Promise<number> {
  const parts =
    "system.parts WHERE active AND database = currentDatabase() AND table = 'spans' AND part_type = 'Compact'";
  const { exportBlockRowsMin: fewest, exportBlockBytes: bytes } = storageLimits;
  const sql = `SELECT least(${most}, greatest(${fewest}, toUInt32(min(rows * ${bytes} / data_uncompressed_bytes)))) FROM ${parts}
    AND rows > ${fewest} AND data_uncompressed_bytes > ${2 * bytes} HAVING count() > 0`;
  const found = (await session.queryAsync(sql, { format: "TabSeparated" })).text();
  return found === "" ? most : Number(found);
}

/** Runs `work` with a signal that is also aborted if `take` fails: nobody needs the output then. */
async function untilRefused(
  take: WriteBytes,
  signal: AbortSignal,
  work: (take: WriteBytes, ended: AbortSignal) => Promise<void>,
): Promise<void> {
  const refused = new AbortController();
  const writeBytes: WriteBytes = async (bytes) => {
    try {
      await take(bytes);
    } catch (error) {
      refused.abort(error);
      throw error;
    }
  };
  await work(writeBytes, AbortSignal.any([signal, refused.signal]));
}

/**
 * The engine makes a chunk on demand, so a slow client blocks none of its threads. It makes the next chunk while `take`
 * handles one.
 */
function writeChunks(format: Exclude<ExportFormat, "parquet">): Write {
  return async ({ session, sql, settings, take }, signal) => {
    const { name } = streamFormats[format];
    const chunks = session.queryStream(withSettings(sql, settings), { format: name, signal })[Symbol.asyncIterator]();
    let next = chunks.next();
    try {
      for (let result = await next; result.done !== true; result = await next) {
        next = chunks.next();
        const bytes = result.value.raw();
        if (bytes.length > 0) await take(bytes);
      }
    } finally {
      // The next chunk is made even if nobody takes it, and it may fail.
      await Promise.allSettled([next]);
      await chunks.return?.();
    }
  };
}

/**
 * Parquet in chunks would be one file for each chunk. So the engine writes one file, which is read while it grows. It
 * is in the data folder without a name, so that nothing is left behind, even after a crash.
 */
function writeThroughFile(folder: string): Write {
  return async ({ session, sql, settings, take }, signal) => {
    const file = await openNameless(folder);
    const insert = `INSERT INTO FUNCTION file('/dev/fd/${file.fd}', 'Parquet') ${sql}`;
    let isWritten = false;
    const writing = session
      .queryAsync(withSettings(insert, { ...settings, ...fileSettings }))
      .finally(() => (isWritten = true));
    const settled = Promise.allSettled([writing]);
    try {
      for (let at = 0; ;) {
        const isLast = isWritten;
        const { size } = await file.stat();
        const bytes = Buffer.allocUnsafeSlow(Math.min(size - at, pieceBytes));
        const { bytesRead } = await file.read(bytes, 0, bytes.length, at);
        at += bytesRead;
        if (bytesRead > 0) await take(bytes.subarray(0, bytesRead));
        else if (isLast) break;
        else await sleep(storageLimits.exportFilePollMs);
        signal.throwIfAborted();
      }
      await writing;
    } finally {
      // The engine uses the file until the statement ends. On abort, the caller kills it.
      await settled;
      await file.close();
    }
  };
}

/** Larger than a socket takes at once, so the response waits for it and then frees it. */
const pieceBytes = 1024 * 1024;

const fileSettings = {
  engine_file_truncate_on_insert: 1,
  min_insert_block_size_bytes: storageLimits.exportEncodeBytes,
};

/** Refuses the next bytes while the disk is nearly full, so that the statement is killed: its file has room until then. */
function withRoom(folder: string, take: WriteBytes): WriteBytes {
  return async (bytes) => {
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize < storageLimits.insertFileRoomBytes) {
      throw new ServiceError("unavailable", "the disk has no room to write the export", { retryAfterS: 60 });
    }
    await take(bytes);
  };
}
