import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { NodeSqliteDialect } from "./node-sqlite-dialect.ts";
import { retryWhileBusy } from "./sqlite-busy.ts";

/**
 * Opens the file, or creates it with its folder, before the first statement. Every commit is on disk when it returns.
 */
export function openSqlite(path: string): NodeSqliteDialect {
  return new NodeSqliteDialect(async () => {
    mkdirSync(dirname(path), { recursive: true });
    const database = new DatabaseSync(path, { enableForeignKeyConstraints: true });
    try {
      await retryWhileBusy(() => database.exec("pragma journal_mode = wal"));
      database.exec("pragma synchronous = full");
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  });
}
