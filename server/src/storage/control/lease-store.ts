import type { ControlQueries } from "./open-control-database.ts";

/** Leases for work that only one node does. Times are ISO 8601, by the clock that all nodes share. */
export type LeaseStore = {
  /** Takes a free or expired lease, or renews the owner's. False while another owner holds it. */
  take: (lease: { name: string; owner: string; now: string; until: string }) => Promise<boolean>;
  /** Releases the owner's lease. */
  release: (lease: { name: string; owner: string }) => Promise<void>;
};

export function createLeaseStore(queries: ControlQueries): LeaseStore {
  return {
    take: async ({ name, owner, now, until }) => {
      const { numInsertedOrUpdatedRows = 0n } = await queries
        .insertInto("leases")
        .values({ name, owner, expires_at: until })
        .onConflict((conflict) =>
          conflict
            .column("name")
            .doUpdateSet({ owner, expires_at: until })
            .where((row) => row.or([row("leases.owner", "=", owner), row("leases.expires_at", "<=", now)])),
        )
        .executeTakeFirst();
      return numInsertedOrUpdatedRows > 0n;
    },
    release: async ({ name, owner }) => {
      await queries.deleteFrom("leases").where("name", "=", name).where("owner", "=", owner).execute();
    },
  };
}
