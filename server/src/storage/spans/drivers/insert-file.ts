import { existsSync } from "node:fs";
import { open, statfs, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { randomToken } from "../../../lib/random-token.ts";
import { storageLimits } from "../../limits.ts";

/**
 * Rows on their way into the engine, in a file. It takes them in the text of the statement as well, but copies and searches that from
 * end to end for words of its own language first, which costs a third of the insert.
 */
export type InsertFile = {
  /**
   * @param insert given the path of a file that holds the bytes for as long as it takes; undefined where they go in the text: few
   * bytes, others in the file, or a disk that may need its room for what is stored
   */
  lend<T>(bytes: Buffer, insert: (path: string | undefined) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** @param folder on whose disk it lies. It has no name there, so that nothing of it is left behind. */
export function createInsertFile(folder: string): InsertFile {
  let opened: Promise<FileHandle> | undefined;
  let isLent = false;

  /** The path of the file with these bytes in it. */
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
      if (isLent || bytes.length < storageLimits.insertFileBytes) return insert(undefined);
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

/** A file that has no name, so that nothing of it is left behind. */
export async function openNameless(folder: string): Promise<FileHandle> {
  const path = join(folder, `insert-${randomToken(12)}`);
  const file = await open(path, "wx+", 0o600);
  await unlink(path);
  return file;
}
