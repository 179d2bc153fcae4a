import type { User } from "../../domain/user.ts";
import { storageLimits } from "../limits.ts";
import type { ControlQueries } from "./open-control-database.ts";
import { toUser } from "./user-store.ts";

/** A person signed in. Times are ISO 8601, UTC. */
export type Session = {
  /** A random id, or the hash of a browser's. */
  id: string;
  user_id: string;
  /** Counts the refresh tokens that were given out. */
  sequence: number;
  created_at: string;
  expires_at: string;
  /** Of a browser's session: the latest that `expires_at` may ever be. */
  ends_at: string | null;
};

export type BrowserSessionRow = { user: User; expires_at: string; ends_at: string };

export type SessionStore = {
  /** The person's oldest end where there are more than `storageLimits.sessionsPerUser`. */
  create: (session: Session) => Promise<void>;
  /** Whose it is, while it has not ended. */
  findUser: (id: string, now: string) => Promise<User | undefined>;
  /** A browser's session, while it has not ended. */
  findOfBrowser: (idHash: string, now: string) => Promise<BrowserSessionRow | undefined>;
  /** Lets a session that goes on end later. */
  extend: (id: string, expires_at: string) => Promise<void>;
  /**
   * The next sequence, where `sequence` is the newest. Undefined where the session has ended, or where it was refreshed
   * since: then somebody uses an old token, and the session ends.
   */
  advance: (id: string, sequence: number, times: { now: string; expires_at: string }) => Promise<number | undefined>;
  end: (id: string) => Promise<void>;
  /** Those of a person that have not ended, newest first. */
  list: (userId: string, now: string) => Promise<Session[]>;
  /** False: the person has no such session. */
  endOf: (userId: string, id: string, now: string) => Promise<boolean>;
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
        .offset(storageLimits.sessionsPerUser)
        .limit(storageLimits.sessionsPerUser)
        .execute();
      for (const { id } of surplus) await end(id);
    },

    ...ownSessions(queries),

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

    findOfBrowser: async (idHash, now) => {
      const row = await queries
        .selectFrom("sessions")
        .innerJoin("users", "users.id", "sessions.user_id")
        .selectAll("users")
        .select(["sessions.expires_at", "sessions.ends_at"])
        .where("sessions.id", "=", idHash)
        .where("sessions.expires_at", ">", now)
        .executeTakeFirst();
      if (row === undefined || row.ends_at === null) return undefined;
      return { user: toUser(row), expires_at: row.expires_at, ends_at: row.ends_at };
    },

    extend: async (id, expires_at) => {
      await queries
        .updateTable("sessions")
        .set({ expires_at })
        .where("id", "=", id)
        .where("expires_at", "<", expires_at)
        .execute();
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

function ownSessions(queries: ControlQueries): Pick<SessionStore, "list" | "endOf"> {
  return {
    list: (userId, now) =>
      queries
        .selectFrom("sessions")
        .selectAll()
        .where("user_id", "=", userId)
        .where("expires_at", ">", now)
        .orderBy("created_at", "desc")
        .orderBy("id")
        .execute(),

    endOf: async (userId, id, now) => {
      const { numDeletedRows } = await queries
        .deleteFrom("sessions")
        .where("user_id", "=", userId)
        .where("id", "=", id)
        .where("expires_at", ">", now)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
