import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../../domain/errors.ts";

export class NodeLockError extends Error {}

/**
 * Locks a folder for this process, so that no second node replays its journal. The operating system holds the lock, on
 * a SQLite file: it ends with the process, however that ends.
 *
 * @throws NodeLockError if another process holds it
 */
export function lockNode(path: string): { release(): void } {
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;");
  } catch (cause) {
    database.close();
    throw new NodeLockError(`Another Spanway process uses this data folder (${path} is locked).`, { cause });
  }
  return { release: () => database.close() };
}

/** Locks a node's folder for a command. @throws ServiceError `conflict` while a server runs on it */
export function lockStopped(dataDir: string): { release(): void } {
  try {
    return lockNode(join(dataDir, "node.lock"));
  } catch (cause) {
    if (!(cause instanceof NodeLockError)) throw cause;
    throw new ServiceError("conflict", `${cause.message} Stop the server first.`, { cause });
  }
}
