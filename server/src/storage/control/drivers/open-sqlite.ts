import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { storageLimits } from "../../limits.ts";
import { NodeSqliteDialect } from "./node-sqlite-dialect.ts";

/**
 * Opens the file, or creates it with its folder, before the first statement. Every commit is on disk when it returns.
 */
export function openSqlite(path: string): NodeSqliteDialect {
  return new NodeSqliteDialect(async () => {
    mkdirSync(dirname(path), { recursive: true });
    const database = new DatabaseSync(path, {
      timeout: storageLimits.controlBusyMs,
      enableForeignKeyConstraints: true,
    });
    try {
      await useWriteAheadLog(database);
      database.exec("pragma synchronous = full");
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}

/**
 * SQLite does not wait for other processes on this one statement, so processes that create the file together have to
 * retry.
 */
async function useWriteAheadLog(database: DatabaseSync): Promise<void> {
  const deadlineMs = performance.now() + storageLimits.controlBusyMs;
  while (true) {
    try {
      database.exec("pragma journal_mode = wal");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error;
      await setTimeout(storageLimits.controlBusyRetryMs);
    }
  }
}

const sqliteBusy = 5;

function isBusy(error: unknown): boolean {
  // The low byte is the primary result code.
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === sqliteBusy;
}
