import { createControlStores, type ControlStores } from "../../src/storage/control/control-stores.ts";
import { openControlDatabase } from "../../src/storage/control/open-control-database.ts";

/** Migrated control stores in the memory of this process, until `close` is called. */
export async function openMemoryControl(): Promise<{ stores: ControlStores; close: () => Promise<void> }> {
  const database = openControlDatabase({ kind: "sqlite", path: ":memory:" });
  await database.migrate();
  return { stores: createControlStores(database), close: database.close };
}
