import type { User } from "../../domain/user.ts";
import { limits } from "../../limits.ts";
import type { ControlQueries } from "./open-control-database.ts";
import { toUser } from "./user-store.ts";

/** A person signed in. `sequence` counts the refresh tokens that were given out. Times are ISO 8601, UTC. */
export type Session = { id: string; user_id: string; sequence: number; created_at: string; expires_at: string };

export type SessionStore = {
  /** The person's oldest end where there are more than `limits.sessionsPerUser`. */
  create: (session: Session) => Promise<void>;
  /** Whose it is, while it has not ended. */
  findUser: (id: string, now: string) => Promise<User | undefined>;
  /**
   * The next sequence, where `sequence` is the newest. Undefined where the session has ended, or where it was refreshed
   * since: then somebody uses an old token, and the session ends.
   */
  advance: (id: string, sequence: number, times: { now: string; expires_at: string }) => Promise<number | undefined>;
  end: (id: string) => Promise<void>;
};

export function createSessionStore(queries: ControlQueries): SessionStore {
  const end: SessionStore["end"] = async (id) => {
    await queries.deleteFrom("sessions").where("id", "=", id).execute();
  };
  return {
    end,

    create: async (session) => {
      await queries.deleteFrom("sessions").where("expires_at", "<=", session.created_at).execute();
      await queries.insertInto("sessions").values(session).execute();
      const surplus = await queries
        .selectFrom("sessions")
        .select("id")
        .where("user_id", "=", session.user_id)
        .orderBy("created_at", "desc")
        .offset(limits.sessionsPerUser)
        .limit(limits.sessionsPerUser)
        .execute();
      for (const { id } of surplus) await end(id);
    },

    findUser: async (id, now) => {
      const row = await queries
        .selectFrom("sessions")
        .innerJoin("users", "users.id", "sessions.user_id")
        .selectAll("users")
        .where("sessions.id", "=", id)
        .where("sessions.expires_at", ">", now)
        .executeTakeFirst();
      return row && toUser(row);
    },

    advance: async (id, sequence, { now, expires_at }) => {
      const row = await queries
        .updateTable("sessions")
        .set({ sequence: sequence + 1, expires_at })
        .where("id", "=", id)
        .where("sequence", "=", sequence)
        .where("expires_at", ">", now)
        .returning("sequence")
        .executeTakeFirst();
      if (row === undefined) await end(id);
      return row?.sequence;
    },
  };
}
