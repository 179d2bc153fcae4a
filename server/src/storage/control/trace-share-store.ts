import type { Environment } from "../../domain/principal.ts";
import type { ControlQueries } from "./open-control-database.ts";

export type TraceShare = {
  unique_organization_id: string;
  trace_unique_id: string;
  environment: Environment;
  is_public: boolean;
};

export type TraceShareStore = {
  /** The last call for a trace wins. `updated_at` is ISO 8601, UTC. */
  set: (share: TraceShare & { updated_at: string }) => Promise<void>;
  /** The environments in which a trace with this id is public, prod first. Empty if it never was or no longer is. */
  findPublic: (uniqueOrganizationId: string, traceId: string) => Promise<Environment[]>;
};

export function createTraceShareStore(queries: ControlQueries): TraceShareStore {
  return {
    set: async ({ is_public, ...share }) => {
      const row = { ...share, is_public: is_public ? 1 : 0 };
      await queries
        .insertInto("trace_shares")
        .values(row)
        .onConflict((conflict) =>
          conflict
            .columns(["unique_organization_id", "trace_unique_id", "environment"])
            .doUpdateSet({ is_public: row.is_public, updated_at: row.updated_at }),
        )
        .execute();
    },

    findPublic: async (uniqueOrganizationId, traceId) => {
      const rows = await queries
        .selectFrom("trace_shares")
        .select("environment")
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("trace_unique_id", "=", traceId)
        .where("is_public", "=", 1)
        .orderBy("environment")
        .execute();
      return rows.map(({ environment }) => asEnvironment(environment));
    },
  };
}

/** Safe because only `set` writes the column, from an Environment. */
function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
