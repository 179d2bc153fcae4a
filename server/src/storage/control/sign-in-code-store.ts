import type { ControlQueries } from "./open-control-database.ts";

/** One-time sign-in codes, by their hashes. */
export type SignInCodeStore = {
  create: (code: { code_hash: string; user_id: string; expires_at: string }) => Promise<void>;
  /**
   * The code's user. Deletes the code, so that only one of two concurrent calls gets it. Undefined: unknown, taken or
   * expired.
   */
  take: (codeHash: string, now: string) => Promise<string | undefined>;
};

export function createSignInCodeStore(queries: ControlQueries): SignInCodeStore {
  return {
    create: async (code) => {
      await queries.insertInto("sign_in_codes").values(code).execute();
    },

    take: async (codeHash, now) => {
      const row = await queries
        .deleteFrom("sign_in_codes")
        .where("code_hash", "=", codeHash)
        .returning(["user_id", "expires_at"])
        .executeTakeFirst();
      return row === undefined || row.expires_at <= now ? undefined : row.user_id;
    },
  };
}
