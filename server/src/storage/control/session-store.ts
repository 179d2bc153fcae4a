import type { User } from "../../domain/user.ts";
import { storageLimits } from "../limits.ts";
import type { ControlQueries } from "./open-control-database.ts";
import { toUser } from "./user-store.ts";

/** The session of a signed-in person. Times are ISO 8601, UTC. */
export type Session = {
  /** A random id, or the hash of a browser session's id. */
  id: string;
  user_id: string;
  /** Counts the issued refresh tokens. */
  sequence: number;
  created_at: string;
  expires_at: string;
  /** Browser sessions only: the latest time that `expires_at` may reach. */
  ends_at: string | null;
};

export type BrowserSessionRow = { user: User; expires_at: string; ends_at: string };

export type SessionStore = {
  /** Creates a session. Ends the person's oldest ones over `storageLimits.sessionsPerUser`. */
  create: (session: Session) => Promise<void>;
  /** The session's user, if it has not ended. */
  findUser: (id: string, now: string) => Promise<User | undefined>;
  /** A browser session that has not ended. */
  findOfBrowser: (idHash: string, now: string) => Promise<BrowserSessionRow | undefined>;
  /** Moves the end of a session to a later time. */
  extend: (id: string, expires_at: string) => Promise<void>;
  /**
   * The next sequence if `sequence` is the newest. Undefined if the session has ended, or was refreshed since: then an
   * old token is in use, and the session ends.
   */
  advance: (id: string, sequence: number, times: { now: string; expires_at: string }) => Promise<number | undefined>;
  end: (id: string) => Promise<void>;
  /** The sessions of a person that have not ended, newest first. */
  list: (userId: string, now: string) => Promise<Session[]>;
  /** False if the person has no such session. */
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
