import { openSync, closeSync, fstatSync, fsyncSync, ftruncateSync, readFileSync, writeSync, constants } from "node:fs";
import { randomToken } from "../../lib/random-token.ts";

/**
 * Names the node that owns a data folder, the same after every restart: what it left half done is its own. A copy of the folder, such
 * as a restored backup, is another node: the first may still run. Call it with the folder locked.
 */
export function readNodeId(path: string): string {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  try {
    const { dev, ino } = fstatSync(file, { bigint: true });
    const place = `${dev}:${ino}`;
    // Versions before wrote no place.
    const [, known, knownPlace = place] = /^(\w{12,64})(?: (\d+:\d+))?\n$/.exec(readFileSync(path, "utf8")) ?? [];
    const id = known !== undefined && knownPlace === place ? known : randomToken(16);
    ftruncateSync(file);
    writeSync(file, `${id} ${place}\n`, 0);
    fsyncSync(file);
    return id;
  } finally {
    closeSync(file);
  }
}
