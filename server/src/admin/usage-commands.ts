import { ServiceError } from "../domain/errors.ts";
import type { Command } from "./command.ts";

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
