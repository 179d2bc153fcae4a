import { runAdmin } from "./admin/run-admin.ts";
import { createPasswords } from "./auth/passwords.ts";
import { ConfigError, readConfig } from "./config.ts";
import { createRecompute } from "./counting/recompute.ts";
import { loadErasedCustomers } from "./customers/erasures.ts";
import { createControlStores } from "./storage/control/control-stores.ts";
import { openControlDatabase } from "./storage/control/open-control-database.ts";
import { createListUnpriced } from "./counting/unpriced-models.ts";
import { createWithSpans } from "./storage/spans/with-spans.ts";
import { createWithQuarantine } from "./storage/journal/with-quarantine.ts";

// As in `main.ts`, as it may be the first to open the data folder.
process.umask(0o077);

async function open() {
  const config = readConfig();
  const database = openControlDatabase(config.control);
  await database.migrate();
  const stores = createControlStores(database);
  const loadErased = () => loadErasedCustomers(stores.customerErasures);
  const context = {
    stores,
    passwords: createPasswords(),
    nowMs: Date.now,
    withQuarantine: createWithQuarantine(config),
    recomputeUsage: createRecompute(createWithSpans(config), loadErased, Date.now),
    listUnpriced: createListUnpriced(createWithSpans(config)),
  };
  return { context, close: database.close };
}

try {
  const { code, stdout, stderr } = await runAdmin(process.argv.slice(2), open);
  if (stdout !== "") console.log(stdout);
  if (stderr !== "") console.error(stderr);
  process.exitCode = code;
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exitCode = 1;
}
