import type { Command } from "./command.ts";

export const secretKeyCommands: Command[] = [
  {
    name: "secret-key accept",
    summary: "make the secret key of this environment the one that nodes must have, if the previous key is lost",
    options: {},
    run: async ({ acceptSecretKey }) => {
      await acceptSecretKey();
      return "The secret key is accepted. Start the nodes with it; store provider keys again and rotate webhook secrets.";
    },
  },
];
