import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export class DataFolderError extends Error {}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "its file system is read-only",
  ENOENT: "its file system takes no folders",
  ENOTDIR: "part of the path is a file",
  EEXIST: "it is a file",
  ENOSPC: "its disk is full",
  EDQUOT: "its disk is full",
};

/**
 * Makes the folder where it is missing, and tries whether it can be written to: the engines that open files in it say neither
 * which nor why when they fail. @throws DataFolderError that says what an operator can do
 */
export function openDataFolder(path: string): void {
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

/** With the folders above it. Node's own way never ends where a file system, as that of /proc, denies that a folder is there. */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (!existsSync(parent)) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Two nodes may make the folders above theirs at the same moment.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
