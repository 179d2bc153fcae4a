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
 * Hard links to the files of the embedded engine, made while it runs: the engine writes a part of a table once, names
 * it, and later only deletes it. The links keep the content until it is copied, however long that takes. They are on
 * the same disk.
 */
export type EngineNames = {
  /** Links all files of some tables that exist at one moment during the call. */
  nameTables(isWanted: (table: string) => boolean): void;
};

/**
 * Tables that are computed from others, and would be wrong beside rows of another moment. They start empty and are
 * filled again.
 */
const computedTables = new Set(["span_sums", "span_hour_sums", "span_sum_marks", "span_sum_passes", "span_sum_turns"]);
/**
 * Partition, first and last block number, level, and mutation: parts that are being written or deleted have other
 * names.
 */
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

/** A part deleted meanwhile was merged into one that the listing may have missed, so the listing is repeated. */
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
