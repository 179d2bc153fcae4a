import type { ApiKey } from "../../domain/api-key.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { Environment } from "../../domain/principal.ts";
import type { Permission } from "../../domain/permissions.ts";
import { storageLimits } from "../limits.ts";
import { withOrganizationLock } from "./lock-organization.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { ApiKeyRow } from "./schema.ts";

export type NewApiKey = Omit<ApiKey, "last_used_at"> & { hash: string };

export type ApiKeyChange = { name?: string; expires_at?: string | null };

/** Times are ISO 8601, UTC. Expired keys are neither found, listed nor updated. */
export type ApiKeyStore = {
  /**
   * Throws `conflict` if the secret is already known (of any organization, revoked or not), or if the organization, or
   * the user of a temporary key, has as many keys as `limits.ts` allows. Create a temporary key after `users.lock`.
   */
  create: (key: NewApiKey) => Promise<ApiKey>;
  /** The key whose secret has this hash. */
  findByHash: (hash: string, now: string) => Promise<ApiKey | undefined>;
  /** The key of this organization with this id, lasting or temporary. */
  find: (uniqueOrganizationId: string, id: string, now: string) => Promise<ApiKey | undefined>;
  /** The organization's lasting keys, oldest first, without temporary ones. */
  list: (uniqueOrganizationId: string, now: string) => Promise<ApiKey[]>;
  /** Changes a lasting key and returns it, with its hash for caches; undefined if there is no such key. */
  update: (
    uniqueOrganizationId: string,
    id: string,
    change: ApiKeyChange,
    now: string,
  ) => Promise<{ key: ApiKey; hash: string } | undefined>;
  /** Counts a request of a key with `max_usage`. False if it is used up. */
  countUse: (id: string) => Promise<boolean>;
  /** Records that these keys were used at that time, unless a later time is recorded. */
  noteUsed: (ids: readonly string[], at: string) => Promise<void>;
  /** Whether any key of the instance was used. */
  areUsed: () => Promise<boolean>;
  /** Revokes a key of this organization. Returns its hash, for caches; undefined if there is no such key. */
  revoke: (uniqueOrganizationId: string, id: string, now: string) => Promise<string | undefined>;
};

export function createApiKeyStore(queries: ControlQueries): ApiKeyStore {
  return {
    // A temporary key is created with the lock of its user.
    create: (key) =>
      key.user_id === null
        ? withOrganizationLock(queries, key.unique_organization_id, (locked) => createKey(locked, key))
        : createKey(queries, key),

    findByHash: async (hash, now) => {
      const row = await queries
        .selectFrom("api_keys")
        .selectAll()
        .where("hash", "=", hash)
        .where("revoked_at", "is", null)
        .where((column) => column.or([column("expires_at", "is", null), column("expires_at", ">", now)]))
        .executeTakeFirst();
      return row && toApiKey(row);
    },

    find: async (uniqueOrganizationId, id, now) => {
      const row = await queries
        .selectFrom("api_keys")
        .selectAll()
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .where("revoked_at", "is", null)
        .where((column) => column.or([column("expires_at", "is", null), column("expires_at", ">", now)]))
        .executeTakeFirst();
      return row && toApiKey(row);
    },

    update: async (uniqueOrganizationId, id, change, now) => {
      const row = await queries
        .updateTable("api_keys")
        // An UPDATE needs at least one column.
        .set((column) => ({ name: column.ref("name"), ...change }))
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .where("user_id", "is", null)
        .where("revoked_at", "is", null)
        .where((column) => column.or([column("expires_at", "is", null), column("expires_at", ">", now)]))
        .returningAll()
        .executeTakeFirst();
      return row && { key: toApiKey(row), hash: row.hash };
    },

    ...useMethods(queries),

    list: async (uniqueOrganizationId, now) => {
      const rows = await queries
        .selectFrom("api_keys")
        .selectAll()
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("revoked_at", "is", null)
        .where("user_id", "is", null)
        .where((column) => column.or([column("expires_at", "is", null), column("expires_at", ">", now)]))
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return rows.map(toApiKey);
    },

    revoke: async (uniqueOrganizationId, id, now) => {
      const row = await queries
        .updateTable("api_keys")
        .set({ revoked_at: now })
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .where("revoked_at", "is", null)
        .returning("hash")
        .executeTakeFirst();
      return row?.hash;
    },
  };
}

function useMethods(queries: ControlQueries): Pick<ApiKeyStore, "countUse" | "areUsed" | "noteUsed"> {
  return {
    countUse: async (id) => {
      const { numUpdatedRows } = await queries
        .updateTable("api_keys")
        .set((column) => ({ usage_count: column("usage_count", "+", 1) }))
        .where("id", "=", id)
        .whereRef("usage_count", "<", "max_usage")
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    areUsed: async () => {
      const used = queries.selectFrom("api_keys").select("id").where("last_used_at", "is not", null);
      return (await used.limit(1).executeTakeFirst()) !== undefined;
    },

    noteUsed: async (ids, at) => {
      for (let start = 0; start < ids.length; start += keysPerStatement) {
        await queries
          .updateTable("api_keys")
          .set({ last_used_at: at })
          .where("id", "in", ids.slice(start, start + keysPerStatement))
          .where((column) => column.or([column("last_used_at", "is", null), column("last_used_at", "<", at)]))
          .execute();
      }
    },
  };
}

const keysPerStatement = 500;

async function createKey(queries: ControlQueries, key: NewApiKey): Promise<ApiKey> {
  await makeRoom(queries, key);
  const created = await queries
    .insertInto("api_keys")
    .values({ ...key, permissions: JSON.stringify(key.permissions) })
    .onConflict((conflict) => conflict.column("hash").doNothing())
    .returningAll()
    .executeTakeFirst();
  if (created === undefined) throw new ServiceError("conflict", "This API key is in use already.");
  return toApiKey(created);
}

/** Deletes the expired keys of the whole instance, then counts those of the new key's owner. */
async function makeRoom(queries: ControlQueries, key: NewApiKey): Promise<void> {
  await queries.deleteFrom("api_keys").where("expires_at", "<=", key.created_at).execute();
  const { count } = await queries
    .selectFrom("api_keys")
    .select((column) => column.fn.countAll().as("count"))
    .where("unique_organization_id", "=", key.unique_organization_id)
    .where("user_id", key.user_id === null ? "is" : "=", key.user_id)
    .where("revoked_at", "is", null)
    .executeTakeFirstOrThrow();
  const max = key.user_id === null ? storageLimits.apiKeysPerOrganization : storageLimits.temporaryKeysPerUser;
  if (Number(count) >= max) throw new ServiceError("conflict", `There are ${max} keys already; revoke some first.`);
}

function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    unique_organization_id: row.unique_organization_id,
    name: row.name,
    environment: asEnvironment(row.environment),
    prefix: row.prefix,
    permissions: asPermissions(row.permissions),
    user_id: row.user_id,
    created_at: row.created_at,
    expires_at: row.expires_at,
    last_used_at: row.last_used_at,
    max_usage: row.max_usage,
  };
}

/** Safe because only `create` writes the column, from an Environment. */
function asEnvironment(environment: string): Environment {
  return environment as Environment;
}

/** Safe because only `create` writes the column, from a Permission[]. */
function asPermissions(permissions: string): Permission[] {
  return JSON.parse(permissions) as Permission[];
}
