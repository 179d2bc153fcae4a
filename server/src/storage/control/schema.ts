import type { Generated, Selectable } from "kysely";

/**
 * The tables, in the subset that SQLite and Postgres share: text, integer, null. Times are ISO 8601 text in UTC with
 * milliseconds, which sorts as time; flags are 0 and 1; lists are JSON text.
 */
export type ControlSchema = {
  instance: InstanceTable;
  organizations: OrganizationTable;
  users: UserTable;
  api_keys: ApiKeyTable;
  trace_shares: TraceShareTable;
  trace_deletions: TraceDeletionTable;
  provider_settings: ProviderSettingTable;
};

/** One row, written by whoever sets up the instance first. */
type InstanceTable = { id: number; initialized_at: string };

type OrganizationTable = {
  id: Generated<number>;
  unique_organization_id: string;
  name: string;
  retention_days: number | null;
  created_at: string;
};

type UserTable = {
  id: string;
  unique_organization_id: string;
  email: string;
  password_hash: string;
  role: string;
  is_instance_admin: number;
  token_version: number;
  created_at: string;
};

type ApiKeyTable = {
  id: string;
  unique_organization_id: string;
  name: string;
  environment: string;
  hash: string;
  prefix: string;
  permissions: string;
  user_id: string | null;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
};

type TraceShareTable = {
  unique_organization_id: string;
  trace_unique_id: string;
  environment: string;
  is_public: number;
  updated_at: string;
};

/** Nanoseconds are text: they do not fit the integers that drivers return. */
type TraceDeletionTable = {
  id: Generated<number>;
  unique_organization_id: string;
  environment: string;
  trace_unique_id: string;
  from_ns: string;
  to_ns: string;
  deleted_at: string;
};

/** `weight` is a number as text, since the shared subset has no fractions; `fields` is a JSON object. */
type ProviderSettingTable = {
  id: string;
  unique_organization_id: string;
  provider: string;
  name: string;
  environment: string | null;
  base_url: string | null;
  fields: string;
  available_models: string | null;
  exclude_models: string;
  weight: string;
  is_enabled: number;
  secret: string | null;
  secret_tail: string;
  created_at: string;
  updated_at: string;
};

export type UserRow = Selectable<UserTable>;
export type TraceDeletionRow = Selectable<TraceDeletionTable>;
export type ApiKeyRow = Selectable<ApiKeyTable>;
export type ProviderSettingRow = Selectable<ProviderSettingTable>;
