import type { Command } from "./command.ts";

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
