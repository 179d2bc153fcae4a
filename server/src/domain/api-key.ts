import type { Permission } from "./permissions.ts";
import type { Environment } from "./principal.ts";

/** The public form of a key: only a hash of the secret is stored. */
export type ApiKey = {
  id: string;
  unique_organization_id: string;
  name: string;
  environment: Environment;
  /** The first characters of the secret, to tell keys apart. */
  prefix: string;
  permissions: Permission[];
  /** The person a temporary key acts for; null for keys of the organization. */
  user_id: string | null;
  created_at: string;
  /** ISO 8601, UTC; null: never. */
  expires_at: string | null;
  /** Precise to the minute, as far as nodes have reported; null if never used, and for temporary keys. */
  last_used_at: string | null;
  /** Requests that a temporary key may make; null: any number. */
  max_usage: number | null;
};
