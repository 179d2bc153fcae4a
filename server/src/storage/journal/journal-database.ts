import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import { openDiskRoom, turnKey } from "./disk-room.ts";

const lmdbMagic = 0xbeefc0de;
const lmdbMagicOffset = 24;
const lmdbBytesMin = 2 * 4096;

/** A file of LMDB that meets a full disk by refusing what is new. */
export type JournalDatabase = {
  root: RootDatabase;
  /**
   * Resolves once what `put` puts is committed and flushed, all of it or nothing; `bytes` says how much that is.
   * @throws Error when the disk has no room for it, or refuses
   */
  add(bytes: number, put: () => void): Promise<void>;
  /** The same for what makes room, which is not asked whether there is any. */
  clear(remove: () => void): Promise<void>;
  /** That the file cannot grow: what is added has to fit into pages that are free here and there. */
  isExhausted(): boolean;
  close(): Promise<void>;
};

/** @throws Error that names the path */
export function openDatabase(path: string, encoding: "msgpack" | "json" = "msgpack"): JournalDatabase {
  refuseForeignFile(join(path, "data.mdb"));
  const root = openRoot(path, encoding);
  const room = openDiskRoom(root, path);
  return {
    root,
    async add(bytes, put) {
      if (!room.take(bytes)) throw new Error(`The disk has no room for ${bytes} bytes more in ${path}.`);
      try {
        await inOneTransaction(root, put);
      } finally {
        room.done(bytes);
      }
    },
    async clear(remove) {
      await inOneTransaction(root, remove);
      // The pages of a transaction are free for others only after two more of them.
      for (let i = 0; room.isExhausted() && i < 3; i += 1)
        await inOneTransaction(root, () => void root.put(turnKey, i));
    },
    isExhausted: () => room.isExhausted(),
    async close() {
      room.close();
      await root.flushed;
      await root.close();
    },
  };
}

function openRoot(path: string, encoding: "msgpack" | "json"): RootDatabase {
  try {
    return open({
      path,
      encoding,
      maxDbs: 16,
      // Without overlapping, the promise of a put resolves after the flush: that is the journal's promise too.
      overlappingSync: false,
      // The transaction that it begins by itself has a promise that nobody can catch: a full disk would end the process.
      eventTurnBatching: false,
      compression: false,
    });
  } catch (cause) {
    throw new Error(`The journal ${path} cannot be opened.`, { cause });
  }
}

async function inOneTransaction(root: RootDatabase, write: () => void): Promise<void> {
  try {
    await root.batch(write);
  } catch (error) {
    // The library gives the reason as a promise that fails in its turn.
    const { commitError } = error as { commitError?: Promise<unknown> };
    commitError?.catch(() => undefined);
    throw error;
  }
}

/** The library crashes the process on a file that is not its own, or that was cut off. */
function refuseForeignFile(path: string): void {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined || file.size === 0) return;
  const head = Buffer.alloc(lmdbMagicOffset + 4);
  const descriptor = openSync(path, "r");
  readSync(descriptor, head);
  closeSync(descriptor);
  if (file.size < lmdbBytesMin || head.readUInt32LE(lmdbMagicOffset) !== lmdbMagic) {
    throw new Error(
      `The journal ${path} is damaged. Set it aside to start with an empty one; what it holds is not stored.`,
    );
  }
}
