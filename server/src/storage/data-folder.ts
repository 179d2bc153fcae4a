import {
  chmodSync,
  existsSync,
  type Dir,
  type Dirent,
  mkdirSync,
  mkdtempSync,
  opendirSync,
  rmdirSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { storageLimits } from "./limits.ts";

export class DataFolderError extends Error {}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "its file system is read-only",
  ENOENT: "its file system allows no folders",
  ENOTDIR: "part of the path is a file",
  EEXIST: "it is a file",
  ENOSPC: "its disk is full",
  EDQUOT: "its disk is full",
};

/** A file that is in the data folder while the restored stores are moved to their places. */
export const restoreMark = "restore-interrupted";

/**
 * Creates the folder if it is missing, and tests that it is writable: the database engines name neither the file nor
 * the cause when they fail. @throws DataFolderError that says what an operator can do
 */
export function openDataFolder(path: string): void {
  if (existsSync(join(path, restoreMark))) {
    const remedy = "Delete it and restore the backup again.";
    throw new DataFolderError(`The data folder ${path} holds a restore that was interrupted. ${remedy}`);
  }
  try {
    makeFolder(resolve(path));
    rmdirSync(mkdtempSync(join(path, ".probe-")));
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const reason = reasons[code] ?? String(cause);
    const remedy = "Let this user write to it, or set SPANWAY_DATA_DIR to another folder.";
    throw new DataFolderError(`The data folder ${path} cannot be used: ${reason}. ${remedy}`, { cause });
  }
}

/**
 * Removes the access of other users to the content of the folder, as an earlier version or a copy may have left it:
 * folders to 0700, files to 0600. Upper folders come first, so that entries beyond the bound are unreachable to others,
 * though they keep their modes. Entries of another user stay as they are and are returned as `refused`.
 */
export function closeToOthers(
  path: string,
  maxEntries: number = storageLimits.dataFolderEntries,
): { refused: string[] } {
  const refused: string[] = [];
  const restrict = (entry: string, mode: number): void => {
    try {
      if ((statSync(entry).mode & 0o777) !== mode) chmodSync(entry, mode);
    } catch (error) {
      // A file of another process may have been removed meanwhile.
      if (existsSync(entry)) refused.push(`${entry}: ${String(error)}`);
    }
  };
  restrict(path, 0o700);
  const folders = [path];
  let seen = 0;
  for (let folder = folders.shift(); folder !== undefined && seen < maxEntries; folder = folders.shift()) {
    for (const entry of entriesOf(folder)) {
      if ((seen += 1) > maxEntries) break;
      const at = join(folder, entry.name);
      // A link may lead out of the folder.
      if (entry.isFile()) restrict(at, 0o600);
      if (!entry.isDirectory()) continue;
      restrict(at, 0o700);
      folders.push(at);
    }
  }
  return { refused };
}

function* entriesOf(folder: string): Iterable<Dirent> {
  let open: Dir;
  try {
    open = opendirSync(folder);
  } catch {
    return;
  }
  try {
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) yield entry;
  } finally {
    open.closeSync();
  }
}

/**
 * Creates parent folders too. Node's recursive mkdir never ends on a file system, such as /proc, that reports ENOENT
 * although the parent exists.
 */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (!existsSync(parent)) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Two nodes may create the same parent folders at the same moment.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
