import { hash } from "node:crypto";
import { ServiceError } from "../domain/errors.ts";
import type { User } from "../domain/user.ts";
import { randomToken } from "../lib/random-token.ts";
import { authLimits } from "./limits.ts";
import type { ControlStores, ControlStoreSet } from "../storage/control/control-stores.ts";
import { lockAccount } from "./sessions.ts";

/** A new session. `id` goes into the cookie and nowhere else: the store has its hash. */
export type NewBrowserSession = {
  id: string;
  /** Seconds until it expires if unused. */
  expires_in: number;
  /** When it ends in any case, ISO 8601. */
  ends_at: string;
  /** Seconds until `ends_at`. */
  ends_in: number;
};

/**
 * Sessions of people who signed in from a browser. Like token sessions they are rows of the control store: ending one
 * ends it on every node.
 */
export type BrowserSessions = {
  /**
   * @param user with the password hash that was checked. Throws `unauthorized` if the user or the password changed
   * since.
   */
  begin: (user: Pick<User, "id"> & { password_hash: string }) => Promise<NewBrowserSession>;
  /** Undefined for a code that is unknown, used or expired. */
  beginByCode: (code: string) => Promise<{ user: User; session: NewBrowserSession } | undefined>;
  /** The session's user; if `isUse`, the session is extended. Undefined if it has ended. Throws `unavailable`. */
  find: (id: string, options?: { isUse: boolean }) => Promise<User | undefined>;
  /** The session's user. Undefined if it had ended. */
  end: (id: string) => Promise<User | undefined>;
};

export type BrowserSessionDeps = Pick<ControlStores, "sessions" | "transaction"> & {
  lifetimes: { idleMs: number; maxMs: number };
  nowMs: () => number;
};

const idChars = 43;

/** The form in which the store has a cookie or a code: SHA-256 in hex. They are too random to be guessed. */
export function hashOf(secret: string): string {
  return hash("sha256", secret);
}

export function createBrowserSessions(deps: BrowserSessionDeps): BrowserSessions {
  const { sessions, transaction, nowMs } = deps;
  const nowText = () => new Date(nowMs()).toISOString();
  return {
    begin: ({ id, password_hash }) =>
      transaction(async (set) => {
        await lockAccount(set, id, password_hash);
        return create(deps, set, id);
      }),

    beginByCode: (code) =>
      transaction(async (set) => {
        const userId = await set.signInCodes.take(hashOf(code), nowText());
        const user = userId === undefined ? undefined : await set.users.find(userId);
        return user && { user, session: await create(deps, set, user.id) };
      }),

    find: async (id, { isUse } = { isUse: true }) => {
      const idHash = hashOf(id);
      try {
        const found = await sessions.findOfBrowser(idHash, nowText());
        if (found === undefined || !isUse) return found?.user;
        const expiresMs = Math.min(nowMs() + deps.lifetimes.idleMs, Date.parse(found.ends_at));
        if (expiresMs >= Date.parse(found.expires_at) + authLimits.browserSessionUseMs) {
          await sessions.extend(idHash, new Date(expiresMs).toISOString());
        }
        return found.user;
      } catch (cause) {
        throw new ServiceError("unavailable", "Credentials cannot be checked just now.", { retryAfterS: 1, cause });
      }
    },

    end: async (id) => {
      const found = await sessions.findOfBrowser(hashOf(id), nowText());
      await sessions.end(hashOf(id));
      return found?.user;
    },
  };
}

async function create(
  { lifetimes, nowMs }: BrowserSessionDeps,
  { sessions }: ControlStoreSet,
  user_id: string,
): Promise<NewBrowserSession> {
  const id = randomToken(idChars);
  const now = nowMs();
  const idleMs = Math.min(lifetimes.idleMs, lifetimes.maxMs);
  const ends_at = new Date(now + lifetimes.maxMs).toISOString();
  await sessions.create({
    id: hashOf(id),
    user_id,
    sequence: 0,
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + idleMs).toISOString(),
    ends_at,
  });
  return { id, expires_in: idleMs / 1000, ends_at, ends_in: lifetimes.maxMs / 1000 };
}

/** Creates a code that signs this person in once, from a link. Returned only here; the store has its hash. */
export async function makeSignInCode(
  { signInCodes }: Pick<ControlStoreSet, "signInCodes">,
  user_id: string,
  nowMs: number,
): Promise<string> {
  const code = randomToken(idChars);
  const expires_at = new Date(nowMs + authLimits.signInCodeMs).toISOString();
  await signInCodes.create({ code_hash: hashOf(code), user_id, expires_at });
  return code;
}
