import type { Command } from "./command.ts";

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
