import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { ServiceError } from "../../domain/errors.ts";
import type { ControlLocation } from "../control/open-control-database.ts";
import { copyDatabase, joinJournals } from "../journal/copy-journal.ts";
import { lockNode, NodeLockError } from "../journal/node-lock.ts";
import type { SpansLocation } from "../spans/clickhouse-span-store.ts";
import { copyFile, copyFolder, flush } from "./copy-folder.ts";
import { nameEngineFiles } from "./engine-files.ts";
import { isFileError } from "./file-errors.ts";

export type NodeFolder = { dataDir: string; journalPath: string; secretKeyPath: string } & {
  spans: SpansLocation;
  control: ControlLocation;
};

/** The last file of a backup: without it a backup is incomplete. */
export const backupNote = "backup.json";
export type BackupNote = { version: string; begun_at: string; stores: string[] };

/**
 * Copies everything that a node stores on its disk into an empty folder, whether the node runs or not: spans accepted
 * before the call are in the copy. The copy is a data folder: a server can start on it.
 *
 * The order matters. A span goes from the spool of calls into the journal, from there into the span store, and then to
 * the control store and the tables beside the spans. The backup copies each store after the stores that feed it. It
 * copies the journal a second time once the list of span parts is fixed, because the journal knows what subscribers
 * still have to read. The next start recognizes spans that are in two stores.
 *
 * @throws ServiceError `conflict` if the folder is not empty, or another backup runs
 */
export async function backUpNode(node: NodeFolder, to: string, version: string): Promise<BackupNote> {
  if (!existsSync(node.journalPath)) {
    throw new ServiceError("not_found", `There is no journal at ${node.journalPath}: set SPANWAY_DATA_DIR.`);
  }
  if (existsSync(to) && readdirSync(to).length > 0)
    throw new ServiceError("conflict", `The folder ${to} is not empty.`);
  const lock = lockBackups(join(node.dataDir, "backup.lock"));
  const aside = join(node.spans.kind === "chdb" ? node.spans.path : node.dataDir, ".backup");
  const begun_at = new Date().toISOString();
  try {
    rmSync(aside, { recursive: true, force: true });
    mkdirSync(aside, { recursive: true, mode: 0o700 });
    mkdirSync(to, { recursive: true, mode: 0o700 });
    const stores = await copyStores(node, { aside, to });
    const note = { version, begun_at, stores };
    writeFileSync(join(to, backupNote), `${JSON.stringify(note)}\n`, { mode: 0o600, flush: true });
    flush(to);
    return note;
  } finally {
    rmSync(aside, { recursive: true, force: true });
    lock.release();
  }
}

async function copyStores(node: NodeFolder, { aside, to }: { aside: string; to: string }): Promise<string[]> {
  const stores = ["journal"];
  const logs = join(node.dataDir, "otlp-logs");
  if (existsSync(logs)) await copyDatabase(logs, join(to, "otlp-logs"));
  copySpool(join(node.dataDir, "calls"), join(to, "calls"));
  const earlier = join(aside, "journal");
  await copyDatabase(node.journalPath, earlier);
  const engine = node.spans.kind === "chdb" ? nameEngineFiles(node.spans.path, join(aside, "spans")) : undefined;
  engine?.nameTables((table) => table === "spans");
  await copyDatabase(node.journalPath, join(to, "journal"));
  if (node.control.kind === "sqlite") {
    await copySqlite(node.control.path, join(to, "control.db"));
    stores.push("control");
  }
  engine?.nameTables((table) => table !== "spans");
  await joinJournals(earlier, join(to, "journal"), Date.now);
  if (existsSync(node.secretKeyPath)) copyFile(node.secretKeyPath, join(to, "secret.key"));
  if (engine !== undefined) {
    copyFolder(join(aside, "spans"), join(to, "spans"));
    stores.push("spans");
  }
  return stores;
}

function lockBackups(path: string): { release(): void } {
  try {
    return lockNode(path);
  } catch (cause) {
    if (!(cause instanceof NodeLockError)) throw cause;
    throw new ServiceError("conflict", "Another backup of this data folder is being made.", { cause });
  }
}

/** Copies in one step: between steps, a change by another process would restart the copy. */
async function copySqlite(from: string, to: string): Promise<void> {
  const database = new DatabaseSync(from, { readOnly: true });
  try {
    await backup(database, to, { rate: 2 ** 30 });
  } finally {
    database.close();
  }
  flush(to);
}

/**
 * Records may be appended during the copy. A file is emptied only when the journal, which is copied later, has its
 * records.
 */
function copySpool(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const names = existsSync(from) ? readdirSync(from).filter((name) => /^(0|1|left-\d+)$/.test(name)) : [];
  for (const name of names) {
    try {
      writeFileSync(join(to, name), readFileSync(join(from, name)), { mode: 0o600, flush: true });
    } catch (error) {
      if (!isFileError(error, "ENOENT")) throw error;
    }
  }
}
