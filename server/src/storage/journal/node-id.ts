import { openSync, closeSync, fstatSync, fsyncSync, ftruncateSync, readFileSync, writeSync, constants } from "node:fs";
import { randomToken } from "../../lib/random-token.ts";

/**
 * Returns the id of the node that owns a data folder. It survives restarts, so that a node resumes its own unfinished
 * work. A copy of the folder, such as a restored backup, gets a new id, because the first node may still run. Call it
 * with the folder locked.
 */
export function readNodeId(path: string): string {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    const { dev, ino } = fstatSync(file, { bigint: true });
    const fileId = `${dev}:${ino}`;
    // Earlier versions wrote no file id.
    const [, known, knownFileId = fileId] = /^(\w{12,64})(?: (\d+:\d+))?\n$/.exec(readFileSync(path, "utf8")) ?? [];
    const id = known !== undefined && knownFileId === fileId ? known : randomToken(16);
    ftruncateSync(file);
    writeSync(file, `${id} ${fileId}\n`, 0);
    fsyncSync(file);
    return id;
  } finally {
    closeSync(file);
  }
}
