import { createControlStores, type ControlStores } from "../../src/storage/control/control-stores.ts";
import { openControlDatabase } from "../../src/storage/control/open-control-database.ts";

/** Migrated control stores that live in this process alone and go when `close` is called. */
export async function openMemoryControl(): Promise<{ stores: ControlStores; close: () => Promise<void> }> {
  const database = openControlDatabase({ kind: "sqlite", path: ":memory:" });
  await database.migrate();
  return { stores: createControlStores(database), close: database.close };
}
