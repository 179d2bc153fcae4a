import { ServiceError } from "../domain/errors.ts";
import type { Quarantine, QuarantinedEntry } from "../storage/journal/quarantine.ts";
import { UsageError, type Command, type Option, type Options } from "./command.ts";

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
