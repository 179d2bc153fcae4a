import { ServiceError } from "../../domain/errors.ts";
import type { Environment } from "../../domain/principal.ts";
import type { SealedProviderSetting } from "../../domain/provider-setting.ts";
import { storageLimits } from "../limits.ts";
import { withOrganizationLock } from "./lock-organization.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { ProviderSettingRow } from "./schema.ts";

export type ProviderSettingChange = Omit<
  SealedProviderSetting,
  "id" | "unique_organization_id" | "provider" | "created_at" | "has_secret"
>;

/** Secrets are sealed in both directions. Times are ISO 8601, UTC. */
export type ProviderSettingStore = {
  /** Throws `conflict` if the organization has as many as `storageLimits.providerSettings`. */
  create: (setting: Omit<SealedProviderSetting, "has_secret">) => Promise<SealedProviderSetting>;
  /** The organization's settings, oldest first. */
  list: (uniqueOrganizationId: string) => Promise<SealedProviderSetting[]>;
  /** At most `max` settings with a secret, of any organization: for the check at start. */
  sample: (max: number) => Promise<SealedProviderSetting[]>;
  find: (uniqueOrganizationId: string, id: string) => Promise<SealedProviderSetting | undefined>;
  /**
   * Undefined if there is no such setting, or it has changed since `expectedUpdatedAt`: decisions based on the read
   * version may no longer hold.
   */
  update: (
    uniqueOrganizationId: string,
    id: string,
    change: ProviderSettingChange,
    expectedUpdatedAt: string,
  ) => Promise<SealedProviderSetting | undefined>;
  /** False if there is no such setting. */
  delete: (uniqueOrganizationId: string, id: string) => Promise<boolean>;
};

export function createProviderSettingStore(queries: ControlQueries): ProviderSettingStore {
  return {
    create: (setting) =>
      withOrganizationLock(queries, setting.unique_organization_id, (locked) => createSetting(locked, setting)),

    list: async (uniqueOrganizationId) => {
      const rows = await queries
        .selectFrom("provider_settings")
        .selectAll()
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return rows.map(toSetting);
    },

    sample: async (max) => {
      const rows = await queries
        .selectFrom("provider_settings")
        .selectAll()
        .where("secret", "is not", null)
        .orderBy("id")
        .limit(max)
        .execute();
      return rows.map(toSetting);
    },

    find: async (uniqueOrganizationId, id) => {
      const row = await queries
        .selectFrom("provider_settings")
        .selectAll()
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .executeTakeFirst();
      return row && toSetting(row);
    },

    update: async (uniqueOrganizationId, id, change, expectedUpdatedAt) => {
      const row = await queries
        .updateTable("provider_settings")
        .set(columnsOf(change))
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .where("updated_at", "=", expectedUpdatedAt)
        .returningAll()
        .executeTakeFirst();
      return row && toSetting(row);
    },

    delete: async (uniqueOrganizationId, id) => {
      const { numDeletedRows } = await queries
        .deleteFrom("provider_settings")
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

async function createSetting(
  queries: ControlQueries,
  setting: Omit<SealedProviderSetting, "has_secret">,
): Promise<SealedProviderSetting> {
  const { count } = await queries
    .selectFrom("provider_settings")
    .select((column) => column.fn.countAll().as("count"))
    .where("unique_organization_id", "=", setting.unique_organization_id)
    .executeTakeFirstOrThrow();
  if (Number(count) >= storageLimits.providerSettings) {
    throw new ServiceError("conflict", `There are ${storageLimits.providerSettings} provider settings already.`);
  }
  const { id, unique_organization_id, provider, created_at } = setting;
  const row = await queries
    .insertInto("provider_settings")
    .values({ id, unique_organization_id, provider, created_at, ...columnsOf(setting) })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toSetting(row);
}

function columnsOf(change: ProviderSettingChange) {
  return {
    name: change.name,
    environment: change.environment,
    base_url: change.base_url,
    fields: JSON.stringify(change.fields),
    available_models: change.available_models === null ? null : JSON.stringify(change.available_models),
    exclude_models: JSON.stringify(change.exclude_models),
    weight: String(change.weight),
    is_enabled: change.is_enabled ? 1 : 0,
    secret: change.secret,
    secret_tail: change.secret_tail,
    updated_at: change.updated_at,
  };
}

/** Safe because only `columnsOf` and `create` write the columns. */
function toSetting(row: ProviderSettingRow): SealedProviderSetting {
  return {
    id: row.id,
    unique_organization_id: row.unique_organization_id,
    provider: row.provider,
    name: row.name,
    environment: row.environment as Environment | null,
    base_url: row.base_url,
    fields: JSON.parse(row.fields) as Record<string, string>,
    available_models: row.available_models === null ? null : (JSON.parse(row.available_models) as string[]),
    exclude_models: JSON.parse(row.exclude_models) as string[],
    weight: Number(row.weight),
    is_enabled: row.is_enabled === 1,
    secret: row.secret,
    has_secret: row.secret !== null,
    secret_tail: row.secret_tail,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}
