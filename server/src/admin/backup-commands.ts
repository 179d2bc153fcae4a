import type { Command } from "./command.ts";

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
