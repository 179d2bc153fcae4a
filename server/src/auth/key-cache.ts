import { ServiceError } from "../domain/errors.ts";
import type { ApiKey } from "../domain/api-key.ts";
import { expandPermissions } from "../domain/permissions.ts";
import type { KeyPrincipal } from "../domain/principal.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { limits } from "../limits.ts";
import type { ApiKeyStore } from "../storage/control/api-key-store.ts";

export type KeyCache = {
  /** The key with this hash: at once where it was asked for lately, else from the store. Throws `unavailable`. */
  find: (hash: string) => KeyPrincipal | undefined | Promise<KeyPrincipal | undefined>;
  /** Drops what is known of a key that was made or revoked. */
  forget: (hash: string) => void;
};

/**
 * Keeps keys, and hashes that are no key, for `limits.cachedKeyMs`: the longest for which a node honours a key that another
 * node revoked.
 */
export function createKeyCache(apiKeys: Pick<ApiKeyStore, "findByHash">, nowMs: () => number): KeyCache {
  const ttlMs = limits.cachedKeyMs;
  const known = new ExpiringLru<string, KeyPrincipal>({ maxEntries: limits.cachedKeys, ttlMs, nowMs });
  // Apart from the known ones, so that a flood of made-up keys pushes out none of them.
  const unknown = new ExpiringLru<string, true>({ maxEntries: limits.cachedUnknownKeys, ttlMs, nowMs });
  const lookups = new Map<string, Promise<KeyPrincipal | undefined>>();

  const remember = (hash: string, key: ApiKey | undefined): KeyPrincipal | undefined => {
    if (key === undefined) {
      unknown.set(hash, true);
      return undefined;
    }
    const principal = keyPrincipal(key);
    const leftMs = key.expires_at === null ? ttlMs : Date.parse(key.expires_at) - nowMs();
    known.set(hash, principal, leftMs);
    return principal;
  };

  const lookUp = (hash: string): Promise<KeyPrincipal | undefined> => {
    const lookup: Promise<KeyPrincipal | undefined> = apiKeys
      .findByHash(hash, new Date(nowMs()).toISOString())
      .then((key) => {
        // Where `forget` came between, what was read may be older than the change: good for this call, not to be kept.
        if (lookups.get(hash) === lookup) return remember(hash, key);
        return key && keyPrincipal(key);
      })
      .catch((cause: unknown) => {
        throw new ServiceError("unavailable", "Credentials cannot be checked just now.", { retryAfterS: 1, cause });
      })
      .finally(() => {
        if (lookups.get(hash) === lookup) lookups.delete(hash);
      });
    lookups.set(hash, lookup);
    return lookup;
  };

  return {
    find: (hash) => {
      const principal = known.get(hash);
      if (principal !== undefined) return principal;
      return unknown.get(hash) === true ? undefined : (lookups.get(hash) ?? lookUp(hash));
    },
    forget: (hash) => {
      lookups.delete(hash);
      known.delete(hash);
      unknown.delete(hash);
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
  };
}
