import { existsSync } from "node:fs";
import { open, statfs, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { randomToken } from "../../../lib/random-token.ts";
import { storageLimits } from "../../limits.ts";

/**
 * Passes rows to the engine in a file. The engine also accepts them in the text of the statement, but copies the text
 * and scans all of it for its own keywords first, which costs a third of the insert.
 */
export type InsertFile = {
  /**
   * @param insert called with the path of a file that has the bytes until it resolves, or with undefined if the rows go
   * in the text: if the file is in use, or if the disk needs its room for stored data
   */
  lend<T>(bytes: Buffer, insert: (path: string | undefined) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** @param folder on the disk for the file. The file has no name, so that nothing is left behind. */
export function createInsertFile(folder: string): InsertFile {
  let opened: Promise<FileHandle> | undefined;
  let isLent = false;

  /** Writes the bytes to the file and returns its path. */
  const fill = async (bytes: Buffer): Promise<string | undefined> => {
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize - bytes.length < storageLimits.insertFileRoomBytes) return undefined;
    const file = await (opened ??= openNameless(folder));
    for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at, bytes.length - at, at)).bytesWritten;
    const path = `/dev/fd/${file.fd}`;
    return existsSync(path) ? path : undefined;
  };
  const empty = async (): Promise<void> => {
    await (await opened)?.truncate(0);
  };

  return {
    async lend(bytes, insert) {
      if (isLent) return insert(undefined);
      isLent = true;
      try {
        return await insert(await fill(bytes).catch(() => undefined));
      } finally {
        await empty().catch(() => (opened = undefined));
        isLent = false;
      }
    },
    async close() {
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}

/** Opens a file without a name, so that nothing of it is left behind. */
export async function openNameless(folder: string): Promise<FileHandle> {
  const path = join(folder, `insert-${randomToken(12)}`);
  const file = await open(path, "wx+", 0o600);
  await unlink(path);
  return file;
}
