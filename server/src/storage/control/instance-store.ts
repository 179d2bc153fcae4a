import type { ControlQueries } from "./open-control-database.ts";

export type InstanceStore = {
  /** Whether a claim has been committed. */
  isInitialized: () => Promise<boolean>;
  /**
   * True for exactly one caller ever, if its transaction commits. A second caller waits for the first one's transaction
   * to end. Call it inside a transaction with the work that it guards.
   */
  claimInitialization: (now: string) => Promise<boolean>;
  /**
   * Locks the instance until this transaction ends, waiting for others that have the lock: for what concerns all
   * organizations. Take it after the lock of an organization. Call it in a transaction.
   */
  lock: () => Promise<void>;
  /** Stores the check value of the secret key if none is stored. Returns the stored value, which is the same for all nodes. */
  keepSecretCheck: (check: string) => Promise<string | undefined>;
  /** Replaces the check value. */
  replaceSecretCheck: (check: string) => Promise<void>;
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

    lock: async () => {
      await queries
        .updateTable("instance")
        .set((column) => ({ initialized_at: column.ref("initialized_at") }))
        .where("id", "=", 1)
        .execute();
    },

    keepSecretCheck: async (check) => {
      await queries
        .updateTable("instance")
        .set({ secret_check: check })
        .where("id", "=", 1)
        .where("secret_check", "is", null)
        .execute();
      const stored = await queries.selectFrom("instance").select("secret_check").where("id", "=", 1).executeTakeFirst();
      return stored?.secret_check ?? undefined;
    },

    replaceSecretCheck: async (check) => {
      await queries.updateTable("instance").set({ secret_check: check }).where("id", "=", 1).execute();
    },
  };
}
