import { ServiceError } from "../domain/errors.ts";
import type { Quarantine, QuarantinedEntry } from "../storage/journal/quarantine.ts";
import { UsageError, type Command, type Option, type Options } from "./command.ts";

export const backupCommands: Command[] = [
  {
    name: "backup",
    summary: "copy the data folder of this environment into an empty folder, also while the server runs",
    options: {},
    argument: { name: "DIR", description: "the folder; created if it is missing" },
    runOnFolder: async ({ backUp }, options) => {
      const { begun_at, stores } = await backUp(options.text("DIR"));
      return { backup: options.text("DIR"), of: begun_at, stores };
    },
  },
  {
    name: "restore",
    summary: "copy a backup into the data folder of this environment, which must have no stores yet",
    options: {},
    argument: { name: "DIR", description: "the backup" },
    runOnFolder: ({ restore }, options) => {
      const { begun_at, stores } = restore(options.text("DIR"));
      return { restored: options.text("DIR"), of: begun_at, stores };
    },
  },
  {
    name: "copy",
    summary:
      "copy the embedded stores of a stopped server, or of a backup, to the servers of SPANWAY_SPANS_URL and SPANWAY_CONTROL_URL",
    options: {},
    argument: { name: "FOLDER", description: "the data folder, or the backup" },
    runOnFolder: async ({ copyToServers }, options) => await copyToServers(options.text("FOLDER")),
  },
];

const folder = { name: "FOLDER", description: "the data folder of the stopped node" };

export const journalCommands: Command[] = [
  {
    name: "journal drain",
    summary: "store and dispatch all spans that a stopped node has accepted, in the stores of this environment",
    options: {},
    argument: folder,
    runOnFolder: async ({ drain }, options) => ({ ...(await drain(options.text("FOLDER"))) }),
  },
  {
    name: "journal adopt",
    summary: "copy all spans that a stopped node has accepted to the node of SPANWAY_DATA_DIR, which may be running",
    options: {},
    argument: folder,
    runOnFolder: async ({ exportJournal }, options) => {
      const { entries } = await exportJournal(options.text("FOLDER"));
      return { adopted: options.text("FOLDER"), entries };
    },
  },
];

const entryOption: Option = { value: "ID", description: "one entry, by the id in the list" };

export const quarantineCommands: Command[] = [
  {
    name: "quarantine list",
    summary: "list the rows that the span store refused (the server must be stopped)",
    options: {},
    run: async ({ withQuarantine }) =>
      await withQuarantine((quarantine) =>
        Array.from(quarantine.entries(), ({ id, at, reason, payload }) => ({
          entry: id,
          at,
          bytes: payload.byteLength,
          reason,
        })),
      ),
  },
  {
    name: "quarantine export",
    summary: "print the rows of an entry as NDJSON (the server must be stopped)",
    options: { entry: { ...entryOption, required: true } },
    run: async ({ withQuarantine }, options) =>
      await withQuarantine((quarantine) => find(quarantine, options.text("entry")).payload.toString("utf8").trimEnd()),
  },
  {
    name: "quarantine drop",
    summary: "delete an entry, or all of them (the server must be stopped)",
    options: { entry: entryOption, all: { description: "every entry" } },
    run: async ({ withQuarantine }, options) =>
      await withQuarantine(async (quarantine) => {
        const ids = idsToDrop(quarantine, options);
        await quarantine.drop(ids);
        return { dropped: ids.length };
      }),
  },
];

function idsToDrop(quarantine: Quarantine, options: Options): number[] {
  const entry = options.optional("entry");
  if ((entry === undefined) !== options.flag("all")) throw new UsageError("Either --entry or --all is needed");
  return entry === undefined ? Array.from(quarantine.entries(), ({ id }) => id) : [find(quarantine, entry).id];
}

function find(quarantine: Quarantine, entry: string): QuarantinedEntry {
  for (const found of quarantine.entries()) if (String(found.id) === entry) return found;
  throw new ServiceError("not_found", `There is no entry ${entry}.`);
}

export const usageCommands: Command[] = [
  {
    name: "usage recompute",
    alias: "recompute",
    summary:
      "recompute what every span counts for, and all sums (with the store inside the process, the server must be stopped)",
    options: { organization: { value: "ID", description: "of one organization only" } },
    run: async ({ stores, recomputeUsage }, options) => {
      const wanted = options.optional("organization");
      const ids = (await stores.organizations.list()).map((organization) => organization.unique_organization_id);
      if (wanted !== undefined && !ids.includes(wanted)) {
        throw new ServiceError("not_found", `There is no organization ${wanted}.`);
      }
      return { traces: await recomputeUsage(wanted === undefined ? ids : [wanted]) };
    },
  },
];

export const secretKeyCommands: Command[] = [
  {
    name: "secret-key accept",
    summary: "if the previous secret key is lost: require the key of this environment of all nodes from now on",
    options: {},
    run: async ({ acceptSecretKey }) => {
      await acceptSecretKey();
      return "The secret key is accepted. Start the nodes with it; store provider keys again and rotate webhook secrets.";
    },
  },
];
