import type { ControlQueries } from "./open-control-database.ts";

export type InstanceStore = {
  /** Whether somebody's claim has been committed. */
  isInitialized: () => Promise<boolean>;
  /**
   * True for exactly one caller ever, if its transaction commits. A second caller waits for the first one's transaction
   * to end. Call it inside a transaction with the work that it guards.
   */
  claimInitialization: (now: string) => Promise<boolean>;
};

export function createInstanceStore(queries: ControlQueries): InstanceStore {
  return {
    isInitialized: async () => (await queries.selectFrom("instance").select("id").executeTakeFirst()) !== undefined,

    claimInitialization: async (now) => {
      const { numInsertedOrUpdatedRows = 0n } = await queries
        .insertInto("instance")
        .values({ id: 1, initialized_at: now })
        .onConflict((conflict) => conflict.column("id").doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows > 0n;
    },
  };
}
