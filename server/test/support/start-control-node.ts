/**
 * Starts one node's control store in a separate process: opens the control database at the given URL, migrates, sets up the instance and
 * prints the result, or null. Waits for a line on stdin first, so that several can start at the same time.
 */
import { once } from "node:events";
import { ensureFirstStart } from "../../src/auth/first-start.ts";
import { createPasswords } from "../../src/auth/passwords.ts";
import { controlLocation } from "../../src/config/locations.ts";
import { createControlStores } from "../../src/storage/control/control-stores.ts";
import { openControlDatabase } from "../../src/storage/control/open-control-database.ts";

const location = controlLocation(process.argv[2] ?? "");
const passwords = createPasswords({ n: 2 ** 10, r: 8, p: 1 });
process.stdout.write("ready\n");
await once(process.stdin, "data");
process.stdin.destroy();

const database = openControlDatabase(location);
await database.migrate();
const settings = {
  organizationId: undefined,
  prodKey: undefined,
  testKey: undefined,
  adminEmail: undefined,
  adminPassword: undefined,
};
const made = await ensureFirstStart(createControlStores(database), passwords, settings, Date.now);
await database.close();
process.stdout.write(`${JSON.stringify(made ?? null)}\n`);
