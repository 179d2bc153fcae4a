import { mkdirSync, mkdtempSync, rmdirSync } from "node:fs";
import { join } from "node:path";

export class DataFolderError extends Error {}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "its file system is read-only",
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
    mkdirSync(path, { recursive: true, mode: 0o700 });
    rmdirSync(mkdtempSync(join(path, ".probe-")));
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const reason = reasons[code] ?? String(cause);
    const remedy = "Let this user write to it, or set SPANWAY_DATA_DIR to another folder.";
    throw new DataFolderError(`The data folder ${path} cannot be used: ${reason}. ${remedy}`, { cause });
  }
}
