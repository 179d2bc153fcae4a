import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";

const lmdbMagic = 0xbeefc0de;
const lmdbMagicOffset = 24;
const lmdbBytesMin = 2 * 4096;

/** @throws Error that names the path */
export function openDatabase(path: string): RootDatabase {
  refuseForeignFile(join(path, "data.mdb"));
  try {
    return open({
      path,
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

/** Resolves once what `write` puts and removes is committed and flushed, all of it or nothing. */
export async function inOneTransaction(root: RootDatabase, write: () => void): Promise<void> {
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
