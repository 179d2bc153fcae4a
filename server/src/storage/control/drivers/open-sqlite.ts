import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { limits } from "../../../limits.ts";
import { NodeSqliteDialect } from "./node-sqlite-dialect.ts";

/** Opens or creates the file, and its folder. Every commit is on disk when it returns. */
export function openSqlite(path: string): NodeSqliteDialect {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path, {
    timeout: limits.controlBusyMs,
    enableForeignKeyConstraints: true,
    enableDoubleQuotedStringLiterals: false,
  });
  database.exec("pragma journal_mode = wal; pragma synchronous = full");
  return new NodeSqliteDialect(database);
}
