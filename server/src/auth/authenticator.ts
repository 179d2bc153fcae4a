import { hash } from "node:crypto";
import type { ApiKey } from "../domain/api-key.ts";
import { ServiceError } from "../domain/errors.ts";
import { expandPermissions, permissionsOfRole } from "../domain/permissions.ts";
import type { KeyPrincipal, UserPrincipal } from "../domain/principal.ts";
import type { User } from "../domain/user.ts";
import type { Authenticator } from "../http/authenticate.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import type { ApiKeyStore } from "../storage/control/api-key-store.ts";
import type { ControlWatch } from "../storage/control/control-watch.ts";
import type { OrganizationStore } from "../storage/control/organization-store.ts";
import type { SessionStore } from "../storage/control/session-store.ts";
import type { BrowserSessions } from "./browser-sessions.ts";
import { authLimits } from "./limits.ts";
import { findSessionUser } from "./sessions.ts";
import type { Tokens } from "./tokens.ts";

export type CachingAuthenticator = Authenticator & {
  /**
   * Call after a key was created or revoked: this process applies it from the next request on, other nodes within
   * `limits.cachedKeyMs`.
   */
  evictKey: (hash: string) => void;
  /** Ids of lasting keys used since the last call, with the time; see `createKeyCache`. */
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

/** SHA-256 in hex. A key has too much entropy to be guessed, so a fast hash without salt is as good as a slow one. */
export function hashApiKey(secret: string): string {
  return hash("sha256", secret);
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

type KeyCache = {
  /** The key with this hash: synchronously if it is cached, else from the store. Throws `unavailable`. */
  find: (hash: string) => KeyPrincipal | undefined | Promise<KeyPrincipal | undefined>;
  /** Removes the cached entry of a key that was created or revoked. */
  evict: (hash: string) => void;
  /**
   * Ids of lasting keys found since the last call, each once in `authLimits.keyUseMs`, with the time of the first use.
   */
  takeUsed: () => ReadonlyMap<string, number>;
};

type KeyCacheDeps = {
  apiKeys: KeyLookups;
  control: Pick<ControlWatch, "orStale">;
  staleMs: number;
  nowMs: () => number;
};

type KeyLookups = Pick<ApiKeyStore, "findByHash" | "countUse">;
type Known = { principal: KeyPrincipal; isUseNoted: boolean; freshUntilMs: number };

/**
 * Caches keys, and hashes of unknown keys, for `authLimits.cachedKeyMs`: the longest time for which a node accepts a
 * key that another node revoked. While the control store does not respond, a key is accepted for `staleMs` more.
 * Temporary keys, which end with their user, are looked up each time.
 */
function createKeyCache({ apiKeys, control, staleMs, nowMs }: KeyCacheDeps): KeyCache {
  const ttlMs = authLimits.cachedKeyMs;
  const known = new ExpiringLru<string, Known>({ maxEntries: authLimits.cachedKeys, ttlMs: ttlMs + staleMs, nowMs });
  // Separate from the known ones, so that a flood of made-up keys evicts none of them.
  const unknown = new ExpiringLru<string, true>({ maxEntries: authLimits.cachedUnknownKeys, ttlMs, nowMs });
  const lookups = new Map<string, Promise<ApiKey | undefined>>();
  const uses = createUses(nowMs);

  const remember = (hash: string, key: ApiKey | undefined): void => {
    if (key === undefined) {
      known.delete(hash);
      unknown.set(hash, true);
      return;
    }
    if (key.user_id !== null) return;
    const leftMs = key.expires_at === null ? undefined : Date.parse(key.expires_at) - nowMs();
    known.set(hash, { principal: keyPrincipal(key), isUseNoted: false, freshUntilMs: nowMs() + ttlMs }, leftMs);
  };

  const lookUp = (hash: string): Promise<ApiKey | undefined> => {
    const lookup: Promise<ApiKey | undefined> = apiKeys
      .findByHash(hash, new Date(nowMs()).toISOString())
      .then((key) => {
        // If `forget` was called meanwhile, the result may be older than the change: it is used for this call and not
        // cached.
        if (lookups.get(hash) === lookup) remember(hash, key);
        return key;
      })
      .finally(() => {
        if (lookups.get(hash) === lookup) lookups.delete(hash);
      });
    lookups.set(hash, lookup);
    return lookup;
  };

  const verify = async (hash: string): Promise<KeyPrincipal | undefined> => {
    const key = await (lookups.get(hash) ?? lookUp(hash));
    if (key === undefined || (key.max_usage !== null && !(await apiKeys.countUse(key.id)))) return undefined;
    const cached = known.get(hash);
    if (cached === undefined) return keyPrincipal(key);
    uses.note(cached);
    return cached.principal;
  };
  const verifyOrReuse = async (hash: string, stale: Known | undefined): Promise<KeyPrincipal | undefined> => {
    try {
      return await control.orStale("key", () => verify(hash), stale && (() => stale.principal));
    } catch (cause) {
      throw new ServiceError("unavailable", "Credentials cannot be checked just now.", { retryAfterS: 1, cause });
    }
  };

  return {
    find: (hash) => {
      const entry = known.get(hash);
      if (entry !== undefined && entry.freshUntilMs > nowMs()) {
        if (!entry.isUseNoted) uses.note(entry);
        return entry.principal;
      }
      return unknown.get(hash) === true ? undefined : verifyOrReuse(hash, entry);
    },
    evict: (hash) => {
      lookups.delete(hash);
      known.delete(hash);
      unknown.delete(hash);
    },
    takeUsed: uses.take,
  };
}

/** Records used keys, so that a repeated use only checks a flag. */
function createUses(nowMs: () => number): { note: (entry: Known) => void; take: KeyCache["takeUsed"] } {
  let noted: Known[] = [];
  let uses = new Map<string, number>();
  let notedSinceMs = nowMs();
  return {
    note: (entry) => {
      entry.isUseNoted = true;
      noted.push(entry);
      uses.set(entry.principal.organization_key_id, nowMs());
    },
    take: () => {
      const taken = uses;
      uses = new Map();
      if (nowMs() - notedSinceMs >= authLimits.keyUseMs) {
        for (const entry of noted) entry.isUseNoted = false;
        noted = [];
        notedSinceMs = nowMs();
      }
      return taken;
    },
  };
}

function keyPrincipal(key: ApiKey): KeyPrincipal {
  return {
    kind: "key",
    organization_id: key.unique_organization_id,
    environment: key.environment,
    organization_key_id: key.id,
    organization_key_name: key.name,
    permissions: expandPermissions(key.permissions),
    ...(key.user_id !== null && { user_id: key.user_id }),
  };
}

type BlockedOrganizations = {
  has: (uniqueOrganizationId: string) => boolean;
  /** Reads the blocked organizations from the store. If that fails, the known ones stay. */
  refresh: () => Promise<void>;
};

/** Organizations that may not write. They are few, so every node caches all of them and refreshes every few seconds. */
export function createBlockedOrganizations(
  organizations: Pick<OrganizationStore, "listBlocked">,
): BlockedOrganizations {
  let blocked: ReadonlySet<string> = new Set();
  return {
    has: (uniqueOrganizationId) => blocked.has(uniqueOrganizationId),
    refresh: async () => {
      blocked = new Set(await organizations.listBlocked());
    },
  };
}
