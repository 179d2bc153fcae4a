import type { Permission } from "./permissions.ts";
import type { Environment } from "./principal.ts";

/** A key as it may be shown: the secret itself is kept as a hash only. */
export type ApiKey = {
  id: string;
  unique_organization_id: string;
  name: string;
  environment: Environment;
  /** The first characters of the secret, to tell keys apart. */
  prefix: string;
  permissions: Permission[];
  /** The person a temporary key acts for; null for keys of the organisation. */
  user_id: string | null;
  created_at: string;
  /** ISO 8601, UTC; null never. */
  expires_at: string | null;
  /** To the minute, as far as nodes have told; null where it was never used, and of temporary keys. */
  last_used_at: string | null;
  /** Requests that a temporary key is good for; null: any number. */
  max_usage: number | null;
};
