import type { ControlQueries } from "./open-control-database.ts";

/** Locks an organization until this transaction ends: see `OrganizationStore.lock`. */
export async function lockOrganization(queries: ControlQueries, uniqueOrganizationId: string): Promise<void> {
  await queries
    .updateTable("organizations")
    .set((column) => ({ name: column.ref("name") }))
    .where("unique_organization_id", "=", uniqueOrganizationId)
    .execute();
}

/**
 * Runs `work` with the lock of an organization, in the caller's transaction or in one of its own: for what is counted
 * before it is added, since others may add at the same moment.
 */
export async function withOrganizationLock<T>(
  queries: ControlQueries,
  uniqueOrganizationId: string,
  work: (queries: ControlQueries) => Promise<T>,
): Promise<T> {
  const run = async (within: ControlQueries): Promise<T> => {
    await lockOrganization(within, uniqueOrganizationId);
    return await work(within);
  };
  return queries.isTransaction ? await run(queries) : await queries.transaction().execute(run);
}
