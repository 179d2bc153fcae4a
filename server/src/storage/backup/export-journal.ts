import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { hash } from "node:crypto";
import { join } from "node:path";
import { ServiceError } from "../../domain/errors.ts";
import { copyDatabase, countPending } from "../journal/copy-journal.ts";
import { lockStopped } from "../journal/node-lock.ts";
import { copyFolder, flush } from "./copy-folder.ts";

/** The folder in which a node finds the journals that it takes over. */
export const adoptedFolder = (dataDir: string): string => join(dataDir, "adopted");

/**
 * Hands the accepted spans of a stopped node to another node, which may run or not: that one stores the spans that the
 * span store does not have yet and dispatches them to subscribers. Returns the number of journal entries; 0 if they
 * were handed over before.
 * @throws ServiceError `conflict` while the node runs, or if both are the same node
 */
export async function exportJournal(folder: string, dataDir: string): Promise<{ entries: number }> {
  if (folder === dataDir) throw new ServiceError("conflict", "FOLDER is the data folder of this node: start it.");
  const [journal, aside] = [join(folder, "journal"), join(folder, "journal-adopted")];
  if (!existsSync(journal) && existsSync(aside)) return { entries: 0 };
  if (!existsSync(journal)) throw new ServiceError("not_found", `There is no journal at ${journal}.`);
  if (!existsSync(dataDir)) {
    throw new ServiceError(
      "not_found",
      `There is no ${dataDir}: set SPANWAY_DATA_DIR to the folder of the node that takes over.`,
    );
  }
  const lock = lockStopped(folder);
  try {
    const to = join(adoptedFolder(dataDir), nameOf(folder));
    const part = `${to}.part`;
    const { entries, missed } = await countPending(journal);
    if (missed > 0) {
      throw new ServiceError(
        "conflict",
        "Subscribers of that node have yet to read spans back: use `journal drain` instead.",
      );
    }
    if (!existsSync(to)) {
      rmSync(part, { recursive: true, force: true });
      mkdirSync(part, { recursive: true, mode: 0o700 });
      await copyDatabase(journal, join(part, "journal"));
      flush(join(part, "journal", "data.mdb"));
      for (const name of ["calls", "otlp-logs"]) {
        if (existsSync(join(folder, name))) copyFolder(join(folder, name), join(part, name));
      }
      flush(part);
      renameSync(part, to);
      flush(adoptedFolder(dataDir));
    }
    // Handing over twice is harmless, as a row that is stored again is the same row; this only avoids the work.
    for (const name of ["calls", "otlp-logs", "journal"]) renameExported(folder, name);
    return { entries };
  } finally {
    lock.release();
  }
}

function nameOf(folder: string): string {
  const id = existsSync(join(folder, "node.id")) ? readFileSync(join(folder, "node.id"), "utf8") : folder;
  return hash("sha256", id, "hex").slice(0, 16);
}

function renameExported(folder: string, name: string): void {
  const [path, aside] = [join(folder, name), join(folder, `${name}-adopted`)];
  if (!existsSync(path)) return;
  rmSync(aside, { recursive: true, force: true });
  renameSync(path, aside);
}
