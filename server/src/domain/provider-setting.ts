import type { Environment } from "./principal.ts";

/** An organization's credential for a provider, without the secret. */
export type ProviderSetting = {
  id: string;
  unique_organization_id: string;
  /** A built-in provider, or a name that the organization chose for its own server. */
  provider: string;
  name: string;
  /** Null: both environments. */
  environment: Environment | null;
  /** Without a trailing slash; null: the provider's default base URL. */
  base_url: string | null;
  /** Non-secret members: api_version, region … */
  fields: Readonly<Record<string, string>>;
  /** Null: all models of the provider. */
  available_models: readonly string[] | null;
  exclude_models: readonly string[];
  /** Above 0; how often it is chosen among several for one provider. */
  weight: number;
  is_enabled: boolean;
  /** The last characters of the key, so that people can tell keys apart; "" if there is no key, or it is short. */
  secret_tail: string;
  has_secret: boolean;
  created_at: string;
  updated_at: string;
};

/** The stored form: `secret` is encrypted, null if the provider needs none. */
export type SealedProviderSetting = ProviderSetting & { secret: string | null };
