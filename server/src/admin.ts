import { spawn, type ChildProcess } from "node:child_process";
import { extname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { drainNode } from "./admin/drain-node.ts";
import { ServiceError } from "./domain/errors.ts";
import { exportJournal } from "./storage/backup/export-journal.ts";
import type { FolderContext } from "./admin/command.ts";
import { runAdmin } from "./admin/run-admin.ts";
import { acceptSecretKey } from "./auth/secret-check.ts";
import { loadSecretKey } from "./auth/secret-key.ts";
import { createPasswords } from "./auth/passwords.ts";
import { ConfigError, environmentWith, readConfig } from "./config/config.ts";
import { createRecompute } from "./counting/recompute.ts";
import { loadErasedCustomers } from "./customers/erasures.ts";
import { createControlStores } from "./storage/control/control-stores.ts";
import { NewerTables } from "./storage/newer-tables.ts";
import { ControlUnreachable, openControlDatabase } from "./storage/control/open-control-database.ts";
import { createListUnpriced } from "./counting/unpriced-models.ts";
import { createWithSpans } from "./storage/spans/with-spans.ts";
import { backUpNode } from "./storage/backup/back-up-node.ts";
import { copyToServers } from "./storage/transfer/copy-to-servers.ts";
import { restoreNode } from "./storage/backup/restore-node.ts";
import { version } from "./domain/version.ts";
import { createWithQuarantine } from "./storage/journal/quarantine.ts";

// As in `main.ts`: this process may be the first to create the data folder.
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
    acceptSecretKey: () => acceptSecretKey(stores.instance, loadSecretKey(config.secretKeyPath, config.secretKey)),
  };
  return { context, close: database.close };
}

/** Starts a server of this environment on another folder, for no other clients. */
function startServer(folder: string): ChildProcess {
  const env = environmentWith({
    SPANWAY_DATA_DIR: folder,
    SPANWAY_HOST: "127.0.0.1",
    SPANWAY_PORT: "0",
    SPANWAY_LOG_LEVEL: "info",
  });
  return spawn(process.execPath, [main], { env, stdio: ["ignore", "pipe", "pipe"] });
}
const main = fileURLToPath(new URL(`main${extname(import.meta.url)}`, import.meta.url));

function openFolder(): FolderContext {
  const config = readConfig();
  return {
    backUp: (to) => backUpNode(config, resolve(to), version),
    restore: (from) => restoreNode(resolve(from), config),
    exportJournal: async (folder) => {
      if (config.spans.kind === "chdb")
        throw new ServiceError("conflict", "SPANWAY_SPANS_URL must name the server that both nodes use.");
      return await exportJournal(resolve(folder), config.dataDir);
    },
    drain: (folder) => drainNode(resolve(folder), startServer),
    copyToServers: (folder) => copyToServers(resolve(folder), config),
  };
}

try {
  const { code, stdout, stderr } = await runAdmin(process.argv.slice(2), open, openFolder);
  if (stdout !== "") console.log(stdout);
  if (stderr !== "") console.error(stderr);
  process.exitCode = code;
} catch (error) {
  const isPlain = [ConfigError, ControlUnreachable, NewerTables].some((known) => error instanceof known);
  console.error(isPlain && error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
