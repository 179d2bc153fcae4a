import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  type Dirent,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isFileError } from "./file-errors.ts";

/**
 * A second set of names for the files of the embedded engine, made while the engine runs: the engine writes a part of a table once, names it,
 * and later only deletes it. The names keep the content until it is copied, however long that takes. They are on the same disk.
 */
export type EngineNames = {
  /** All files of some tables that there are at a moment between the beginning and the end of the call. */
  nameTables(isWanted: (table: string) => boolean): void;
};

/** Their rows are computed from other tables, and would be wrong beside rows of another moment. An empty table is filled again. */
const computedTables = new Set(["span_sums", "span_hour_sums", "span_sum_marks", "span_sum_passes", "span_sum_turns"]);
/** Partition, numbers of the first and the last block, level, and mutation: what is being written or deleted has other names. */
const partName = /^[\dA-Za-z-]+_\d+_\d+_\d+(_\d+)?$/;
const triesMax = 50;

export function nameEngineFiles(from: string, to: string): EngineNames {
  const definitions = realpathSync(join(from, "metadata", "default"));
  const place = join("store", basename(dirname(definitions)), basename(definitions));
  const tables = new Map<string, string>();
  mkdirSync(join(to, place), { recursive: true });
  for (const file of readdirSync(definitions).filter((name) => name.endsWith(".sql"))) {
    copyFileSync(join(definitions, file), join(to, place, file));
    const uuid = /UUID '([\da-f-]{36})'/.exec(readFileSync(join(to, place, file), "utf8"))?.[1];
    if (uuid !== undefined) tables.set(file.slice(0, -".sql".length), join("store", uuid.slice(0, 3), uuid));
  }
  mkdirSync(join(to, "metadata"), { recursive: true });
  symlinkSync(join("..", place), join(to, "metadata", "default"));
  copyLinks(join(from, "data", "default"), join(to, "data", "default"));
  return {
    nameTables(isWanted) {
      for (const [table, path] of tables) {
        if (!isWanted(table)) continue;
        nameTable(join(from, path), join(to, path), { withRows: !computedTables.has(table) });
      }
    },
  };
}

/** What is deleted meanwhile was merged into a part that a first look may have missed: the next one sees it. */
function nameTable(from: string, to: string, { withRows }: { withRows: boolean }): void {
  for (let tries = 1; ; tries += 1) {
    rmSync(to, { recursive: true, force: true });
    mkdirSync(join(to, "detached"), { recursive: true });
    try {
      const entries = readdirSync(from, { withFileTypes: true });
      for (const entry of entries) {
        const [source, target] = [join(from, entry.name), join(to, entry.name)];
        if (entry.isFile()) copyFileSync(source, target);
        else if (withRows && partName.test(entry.name)) linkAll(source, target);
      }
      return;
    } catch (error) {
      if (!isFileError(error, "ENOENT") || tries === triesMax) throw error;
    }
  }
}

function linkAll(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkAll(source, target);
    else linkSync(source, target);
  }
}

function copyLinks(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  const links = readdirSync(from, { withFileTypes: true }).filter((entry: Dirent) => entry.isSymbolicLink());
  for (const { name } of links) symlinkSync(readlinkSync(join(from, name)), join(to, name));
}
