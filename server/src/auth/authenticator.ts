import { permissionsOfRole } from "../domain/permissions.ts";
import type { UserPrincipal } from "../domain/principal.ts";
import type { User } from "../domain/user.ts";
import type { Authenticator } from "../http/authenticate.ts";
import type { SessionStore } from "../storage/control/session-store.ts";
import type { BrowserSessions } from "./browser-sessions.ts";
import { createKeyCache, type KeyCache, type KeyCacheDeps } from "./key-cache.ts";
import { hashApiKey } from "./make-api-key.ts";
import { findSessionUser } from "./sessions.ts";
import type { Tokens } from "./tokens.ts";

export type CachingAuthenticator = Authenticator & {
  /**
   * Call after a key was created or revoked: this process applies it from the next request on, other nodes within
   * `limits.cachedKeyMs`.
   */
  evictKey: (hash: string) => void;
  /** Ids of lasting keys used since the last call, with the time; see `key-cache.ts`. */
  takeUsed: KeyCache["takeUsed"];
};

export type AuthenticatorOptions = KeyCacheDeps & {
  sessions: Pick<SessionStore, "findUser">;
  tokens: Pick<Tokens, "readAccess">;
  browsers: Pick<BrowserSessions, "find">;
};

/** Finds keys in memory if possible; people, who call rarely, are looked up each time. Throws `unavailable`. */
export function createAuthenticator({
  sessions,
  tokens,
  browsers,
  ...options
}: AuthenticatorOptions): CachingAuthenticator {
  const keys = createKeyCache(options);
  const { nowMs } = options;
  return {
    authenticate: ({ scheme, token }) =>
      scheme === "key" ? keys.find(hashApiKey(token)) : principalOfToken({ sessions, tokens, nowMs }, token),
    authenticateBrowser: async (sessionId) => {
      const user = await browsers.find(sessionId);
      return user && userPrincipal(user);
    },
    evictKey: keys.evict,
    takeUsed: keys.takeUsed,
  };
}

async function principalOfToken(
  { sessions, tokens, nowMs }: Pick<AuthenticatorOptions, "sessions" | "tokens" | "nowMs">,
  token: string,
): Promise<UserPrincipal | undefined> {
  const claims = await tokens.readAccess(token);
  const user = claims && (await findSessionUser({ sessions, nowMs }, claims.session_id));
  return user && userPrincipal(user);
}

export function userPrincipal(user: User): UserPrincipal {
  return {
    kind: "user",
    organization_id: user.unique_organization_id,
    user_id: user.id,
    email: user.email,
    role: user.role,
    is_instance_admin: user.is_instance_admin,
    permissions: permissionsOfRole(user.role),
  };
}
