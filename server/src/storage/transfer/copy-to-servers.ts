import { existsSync } from "node:fs";
import { join } from "node:path";
import { ServiceError } from "../../domain/errors.ts";
import { openControlDatabase, type ControlLocation } from "../control/open-control-database.ts";
import { lockStopped } from "../journal/node-lock.ts";
import { openSpanDatabase, type SpansLocation } from "../spans/clickhouse-span-store.ts";
import { migrateSpans } from "../spans/migrations/migrate.ts";
import { copyControl, refuseTaken } from "./copy-control.ts";
import { copySpans, type CopiedTable } from "./copy-spans.ts";

/**
 * Copies the embedded stores of a data folder, whose server is stopped, to the servers of the locations. The control
 * store comes last: while it is empty the copy can be repeated.
 * @throws ServiceError that says what is missing, in the way, or different in the end
 */
export async function copyToServers(
  folder: string,
  to: { spans: SpansLocation; control: ControlLocation },
): Promise<CopiedTable[]> {
  const [spansPath, controlPath] = [join(folder, "spans"), join(folder, "control.db")];
  const [hasSpans, hasControl] = [to.spans.kind === "clickhouse", to.control.kind === "postgres"];
  if (!hasSpans && !hasControl) {
    throw new ServiceError("conflict", "Neither SPANWAY_SPANS_URL nor SPANWAY_CONTROL_URL names a server to copy to.");
  }
  const missing = [...(hasSpans ? [spansPath] : []), ...(hasControl ? [controlPath] : [])].find(
    (path) => !existsSync(path),
  );
  if (missing !== undefined) throw new ServiceError("not_found", `There is no ${missing}.`);
  const lock = lockStopped(folder);
  try {
    const target = hasControl ? openControlDatabase(to.control) : undefined;
    try {
      await target?.migrate();
      if (target !== undefined) await refuseTaken(target.queries);
      const tables = hasSpans ? await copySpanStore(spansPath, to.spans) : [];
      if (target === undefined) return tables;
      await migrateSqlite(controlPath);
      return [...tables, ...(await copyControl(controlPath, target))];
    } finally {
      await target?.close();
    }
  } finally {
    lock.release();
  }
}

async function copySpanStore(path: string, to: SpansLocation): Promise<CopiedTable[]> {
  const [source, target] = [openSpanDatabase({ kind: "chdb", path }), openSpanDatabase(to)];
  try {
    await migrateSpans(source);
    await migrateSpans(target);
    return await copySpans(source, target);
  } finally {
    await source.close();
    await target.close();
  }
}

async function migrateSqlite(path: string): Promise<void> {
  const database = openControlDatabase({ kind: "sqlite", path });
  try {
    await database.migrate();
  } finally {
    await database.close();
  }
}
