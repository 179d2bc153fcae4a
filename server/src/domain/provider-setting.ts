import type { Environment } from "./principal.ts";

/** An organisation's credential for a provider, without what is secret in it. */
export type ProviderSetting = {
  id: string;
  unique_organization_id: string;
  /** One of ours, or a name that the organisation chose for a server of its own. */
  provider: string;
  name: string;
  /** Null: both. */
  environment: Environment | null;
  /** Without a trailing slash; null calls the provider's own address. */
  base_url: string | null;
  /** Members that are no secret: api_version, region … */
  fields: Readonly<Record<string, string>>;
  /** Null: all models of the provider. */
  available_models: readonly string[] | null;
  exclude_models: readonly string[];
  /** Above 0; how often it is drawn among several for one provider. */
  weight: number;
  is_enabled: boolean;
  /** The last characters of the key, for people to tell keys apart; "" where there is none, or where it is short. */
  secret_tail: string;
  has_secret: boolean;
  created_at: string;
  updated_at: string;
};

/** As stored: `secret` is sealed, null where the provider needs none. */
export type SealedProviderSetting = ProviderSetting & { secret: string | null };
