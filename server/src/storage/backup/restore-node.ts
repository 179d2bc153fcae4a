import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ServiceError } from "../../domain/errors.ts";
import { openDataFolder, restoreMark } from "../data-folder.ts";
import { backupNote, type BackupNote, type NodeFolder } from "./back-up-node.ts";
import { copyFile, copyFolder } from "./copy-folder.ts";

/**
 * Copies a backup to the places of this node's stores. @throws ServiceError if the backup is incomplete, a target
 * exists already, or the node is not configured for the stores in the backup
 */
export function restoreNode(from: string, node: NodeFolder): BackupNote {
  const note = readNote(from);
  for (const [store, isHere] of [
    ["spans", node.spans.kind === "chdb"],
    ["control", node.control.kind === "sqlite"],
  ] as const) {
    if (note.stores.includes(store) === isHere) continue;
    const setting = store === "spans" ? "SPANWAY_SPANS_URL" : "SPANWAY_CONTROL_URL";
    const what = isHere ? "does not hold the store that it names" : "holds a store that it does not name";
    throw new ServiceError("conflict", `${setting} is not that of the backup, which ${what}.`);
  }
  const targets = [
    { name: "journal", path: node.journalPath },
    { name: "otlp-logs", path: join(node.dataDir, "otlp-logs") },
    { name: "calls", path: join(node.dataDir, "calls") },
    { name: "secret.key", path: node.secretKeyPath },
    ...(node.control.kind === "sqlite" ? [{ name: "control.db", path: node.control.path }] : []),
    ...(node.spans.kind === "chdb" ? [{ name: "spans", path: node.spans.path }] : []),
  ].filter(({ name }) => existsSync(join(from, name)));
  const taken = targets.find(({ path }) => existsSync(path));
  if (taken !== undefined)
    throw new ServiceError("conflict", `${taken.path} exists already: restore into a new folder.`);
  openDataFolder(node.dataDir);
  const mark = join(node.dataDir, restoreMark);
  const partOf = (path: string): string => `${path}.restoring`;
  try {
    for (const { name, path } of targets) {
      openDataFolder(dirname(path));
      rmSync(partOf(path), { recursive: true, force: true });
      if (/\./.test(name)) copyFile(join(from, name), partOf(path));
      else copyFolder(join(from, name), partOf(path));
    }
    // Renames only once everything is copied. The mark keeps a server from starting on some of the stores if this
    // process is killed between two of the renames.
    writeFileSync(mark, "", { mode: 0o600, flush: true });
    for (const { path } of targets) renameSync(partOf(path), path);
  } catch (error) {
    for (const { path } of targets) {
      rmSync(partOf(path), { recursive: true, force: true });
      rmSync(path, { recursive: true, force: true });
    }
    throw error;
  } finally {
    rmSync(mark, { force: true });
  }
  return note;
}

function readNote(from: string): BackupNote {
  const path = join(from, backupNote);
  if (!existsSync(from) || readdirSync(from).length === 0)
    throw new ServiceError("not_found", `There is no backup at ${from}.`);
  if (!existsSync(path)) {
    throw new ServiceError(
      "conflict",
      `${from} is not a complete backup: it has no ${backupNote}, which is written last.`,
    );
  }
  return asNote(JSON.parse(readFileSync(path, "utf8")));
}

/** Safe because only a completed backup writes the file. */
function asNote(value: unknown): BackupNote {
  return value as BackupNote;
}
