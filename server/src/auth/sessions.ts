import { randomUUID } from "node:crypto";
import { ServiceError } from "../domain/errors.ts";
import type { User } from "../domain/user.ts";
import { authLimits } from "./limits.ts";
import type { ControlStores, ControlStoreSet } from "../storage/control/control-stores.ts";
import type { SessionStore } from "../storage/control/session-store.ts";
import type { TokenPair, Tokens } from "./tokens.ts";

/**
 * Token sessions. A session is a row of the control store, and every token is checked against it: ending it on any node
 * invalidates all of its tokens immediately.
 */
export type Sessions = {
  /**
   * @param user with the password hash that was checked. Throws `unauthorized` if the user or the password changed
   * since.
   */
  begin: (user: Pick<User, "id"> & { password_hash: string }) => Promise<TokenPair>;
  /**
   * Exchanges a refresh token for the next pair. A token that was exchanged before ends the session. Undefined: sign in
   * again.
   */
  refresh: (token: string) => Promise<TokenPair | undefined>;
  /** Ends the session of either token of a pair and returns its user; undefined if no open session has the token. */
  end: (token: string) => Promise<User | undefined>;
  /** The id of an access token's session, which may have ended. */
  idOf: (accessToken: string) => Promise<string | undefined>;
};

export type SessionDeps = Pick<ControlStores, "sessions" | "transaction"> & { tokens: Tokens; nowMs: () => number };

export function createSessions({ sessions, transaction, tokens, nowMs }: SessionDeps): Sessions {
  const times = () => {
    const ms = nowMs();
    return { now: new Date(ms).toISOString(), expires_at: new Date(ms + authLimits.refreshTokenMs).toISOString() };
  };
  return {
    begin: async ({ id: user_id, password_hash }) => {
      const { now: created_at, expires_at } = times();
      const session = { id: randomUUID(), user_id, sequence: 1, created_at, expires_at, ends_at: null };
      await transaction(async (set) => {
        await lockAccount(set, user_id, password_hash);
        await set.sessions.create(session);
      });
      return tokens.issue(session);
    },
    refresh: async (token) => {
      const claims = await tokens.readRefresh(token);
      const sequence = claims && (await sessions.advance(claims.session_id, claims.sequence, times()));
      return sequence === undefined ? undefined : tokens.issue({ id: claims?.session_id ?? "", sequence });
    },
    idOf: async (token) => (await tokens.readAccess(token))?.session_id,
    end: async (token) => {
      const claims = (await tokens.readAccess(token)) ?? (await tokens.readRefresh(token));
      const user = claims && (await findSessionUser({ sessions, nowMs }, claims.session_id));
      if (claims === undefined || user === undefined) return undefined;
      await sessions.end(claims.session_id);
      return user;
    },
  };
}

/**
 * Locks the account, with its password as checked, until the transaction ends. Throws `unauthorized` if they changed.
 */
export async function lockAccount({ users }: ControlStoreSet, id: string, password_hash: string): Promise<void> {
  if (await users.lock(id, { password_hash })) return;
  throw new ServiceError("unauthorized", "The account or its password changed during this request. Sign in again.");
}

/** The session's user; undefined if it has ended. Throws `unavailable`. */
export async function findSessionUser(
  { sessions, nowMs }: { sessions: Pick<SessionStore, "findUser">; nowMs: () => number },
  sessionId: string,
): Promise<User | undefined> {
  return sessions.findUser(sessionId, new Date(nowMs()).toISOString()).catch((cause: unknown) => {
    throw new ServiceError("unavailable", "Credentials cannot be checked just now.", { retryAfterS: 1, cause });
  });
}
