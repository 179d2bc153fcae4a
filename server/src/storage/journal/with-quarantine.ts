import { existsSync } from "node:fs";
import { ServiceError } from "../../domain/errors.ts";
import { openDatabase } from "./journal-database.ts";
import { lockStopped } from "./node-lock.ts";
import { openQuarantine, type Quarantine } from "./quarantine.ts";

/**
 * Locks the node's folder meanwhile. @throws ServiceError `conflict` while a server runs on it, `not_found` without a
 * journal
 */
export type WithQuarantine = <T>(use: (quarantine: Quarantine) => T | Promise<T>) => Promise<T>;

export function createWithQuarantine(folder: { dataDir: string; journalPath: string }): WithQuarantine {
  return async (use) => {
    // Opening would create a journal: at a mistyped path, owned by whoever runs the command.
    if (!existsSync(folder.journalPath)) {
      throw new ServiceError("not_found", `There is no journal at ${folder.journalPath}.`);
    }
    const lock = lockStopped(folder.dataDir);
    try {
      const database = openDatabase(folder.journalPath);
      try {
        return await use(openQuarantine(database, Date.now));
      } finally {
        await database.close();
      }
    } finally {
      lock.release();
    }
  };
}
