import type { Environment } from "../../domain/principal.ts";
import type { ControlQueries } from "./open-control-database.ts";

export type TraceShare = {
  unique_organization_id: string;
  trace_unique_id: string;
  /** The environment of the shared trace; of one without spans that of the key. */
  environment: Environment;
  is_public: boolean;
};

export type TraceShareStore = {
  /** The last word on a trace of an organisation wins. `updated_at` is ISO 8601, UTC. */
  set: (share: TraceShare & { updated_at: string }) => Promise<void>;
  /** Undefined where the trace is not public, whether it never was or no longer is. */
  findPublic: (uniqueOrganizationId: string, traceId: string) => Promise<TraceShare | undefined>;
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
            .columns(["unique_organization_id", "trace_unique_id"])
            .doUpdateSet({ environment: row.environment, is_public: row.is_public, updated_at: row.updated_at }),
        )
        .execute();
    },

    findPublic: async (uniqueOrganizationId, traceId) => {
      const row = await queries
        .selectFrom("trace_shares")
        .select(["unique_organization_id", "trace_unique_id", "environment"])
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("trace_unique_id", "=", traceId)
        .where("is_public", "=", 1)
        .executeTakeFirst();
      return row && { ...row, environment: asEnvironment(row.environment), is_public: true };
    },
  };
}

/** Only `set` writes the column, and it takes an Environment. */
function asEnvironment(environment: string): Environment {
  return environment as Environment;
}
