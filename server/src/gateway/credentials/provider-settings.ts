import { ServiceError, type FieldErrors } from "../../domain/errors.ts";
import type { Environment } from "../../domain/principal.ts";
import type { ProviderSetting, SealedProviderSetting } from "../../domain/provider-setting.ts";
import type { ProviderSettingStore } from "../../storage/control/provider-setting-store.ts";
import type { ProviderEntry } from "../routing/plan.ts";
import { keylessProviders } from "../providers/quirks.ts";
import { providerName, providerNamePattern } from "../routing/provider-names.ts";
import { builtInProvider } from "../routing/provider-table.ts";
import { BadCredential, readCredential, secretFields } from "./credential-members.ts";
import type { SecretBox } from "./secret-box.ts";
import type { StoredSettings } from "./stored-settings.ts";

/** Members of a credential in a setting. Null removes a member. */
export type CredentialInput = {
  api_key?: string | null | undefined;
  base_url?: string | null | undefined;
  api_version?: string | null | undefined;
  account_id?: string | null | undefined;
  region?: string | null | undefined;
  access_key_id?: string | null | undefined;
  secret_access_key?: string | null | undefined;
  session_token?: string | null | undefined;
};

type Traits = {
  name: string;
  environment: Environment | null;
  available_models: readonly string[] | null;
  exclude_models: readonly string[];
  weight: number;
  is_enabled: boolean;
};

export type NewSetting = Traits & { provider: string; credential: CredentialInput };
export type SettingChange = { [K in keyof Traits]?: Traits[K] | undefined } & { credential: CredentialInput };

/** `isReadable` is false for a setting that another SPANWAY_SECRET_KEY sealed: calls do not use it. */
export type ShownSetting = ProviderSetting & { isReadable: boolean };

/**
 * The provider settings of organizations. Secrets can be written but never read. Every method that changes something
 * throws ServiceError `invalid_request` with the invalid fields.
 */
export type ProviderSettings = {
  create(organizationId: string, setting: NewSetting): Promise<ShownSetting>;
  list(organizationId: string): Promise<ShownSetting[]>;
  /** Throws `not_found`, as do `update` and `delete`. */
  find(organizationId: string, id: string): Promise<ShownSetting>;
  /**
   * A change of `base_url` requires the key again: otherwise everybody who may change settings could have a stored key sent
   * to their own server.
   */
  update(organizationId: string, id: string, change: SettingChange): Promise<ShownSetting>;
  delete(organizationId: string, id: string): Promise<void>;
  /** Call after the organization changed how it shares its settings. Other nodes follow within seconds. */
  evict(organizationId: string): void;
};

export type ProviderSettingsDeps = {
  store: ProviderSettingStore;
  box: SecretBox;
  /** The gateway's cache of settings, which is invalidated on every change. */
  live: Pick<StoredSettings, "evict">;
  providers: ReadonlyMap<string, ProviderEntry>;
  now: () => number;
  newId: () => string;
};

export function createProviderSettings({
  store,
  box,
  live,
  providers,
  now,
  newId,
}: ProviderSettingsDeps): ProviderSettings {
  const mustFind = async (organizationId: string, id: string): Promise<SealedProviderSetting> => {
    const setting = await store.find(organizationId, id);
    if (setting === undefined) throw new ServiceError("not_found", "There is no such provider setting.");
    return setting;
  };

  /** Checks a credential and seals it for its place. */
  const seal = (place: { unique_organization_id: string; id: string; provider: string }, parts: CredentialParts) => {
    checkComplete(place.provider, parts, providers);
    const { secrets, fields, base_url } = parts;
    const isSecret = Object.keys(secrets).length > 0;
    return {
      base_url,
      fields,
      secret: isSecret ? box.seal(secrets, { ...place, base_url }) : null,
      secret_tail: tailOf(secrets["api_key"] ?? secrets["secret_access_key"]),
    };
  };

  const isReadable = (row: SealedProviderSetting): boolean =>
    row.secret === null || box.open(row.secret, row) !== undefined;
  const shown = (row: SealedProviderSetting): ShownSetting => ({ ...row, isReadable: isReadable(row) });

  return {
    create: async (organizationId, { credential, ...setting }) => {
      const provider = readProvider(setting.provider);
      const createdAt = new Date(now()).toISOString();
      const place = { unique_organization_id: organizationId, id: newId(), provider };
      const sealed = seal(place, applyCredential(noCredential, credential));
      const row = { ...setting, ...place, ...sealed, created_at: createdAt, updated_at: createdAt };
      const created = await store.create(row);
      live.evict(organizationId);
      return shown(created);
    },

    list: async (organizationId) => (await store.list(organizationId)).map(shown),

    find: async (organizationId, id) => shown(await mustFind(organizationId, id)),

    update: async (organizationId, id, { credential, ...traits }) => {
      const before = await mustFind(organizationId, id);
      // A credential sealed with another instance's secret is lost, but a new key needs nothing of it.
      const opened = before.secret === null ? {} : box.open(before.secret, before);
      const known = { base_url: before.base_url, fields: before.fields, secrets: opened ?? {} };
      const after = applyCredential(known, credential);
      const isReplaced = credential.api_key !== undefined || credential.secret_access_key !== undefined;
      if (opened === undefined && !isReplaced) throw unreadable();
      const change = {
        ...settled(before, traits),
        ...seal(before, after),
        updated_at: new Date(Math.max(now(), Date.parse(before.updated_at) + 1)).toISOString(),
      };
      const updated = await store.update(organizationId, id, change, before.updated_at);
      if (updated === undefined)
        throw new ServiceError("conflict", "The setting was changed meanwhile; read it again.");
      live.evict(organizationId);
      return shown(updated);
    },

    evict: (organizationId) => live.evict(organizationId),

    delete: async (organizationId, id) => {
      const wasThere = await store.delete(organizationId, id);
      live.evict(organizationId);
      if (!wasThere) throw new ServiceError("not_found", "There is no such provider setting.");
    },
  };
}

type CredentialParts = {
  base_url: string | null;
  fields: Readonly<Record<string, string>>;
  secrets: Readonly<Record<string, string>>;
};

const noCredential: CredentialParts = { base_url: null, fields: {}, secrets: {} };

/**
 * Replaces given members, removes null ones, keeps the others. A change of `base_url` drops all secrets, so each stored
 * one must be sent again or removed.
 */
function applyCredential(before: CredentialParts, given: CredentialInput): CredentialParts {
  const { base_url, ...members } = readSupplied(given);
  const nextUrl = given.base_url === undefined ? before.base_url : (base_url ?? null);
  const isMoved = nextUrl !== before.base_url && Object.keys(before.secrets).length > 0;
  const secrets: Record<string, string> = isMoved ? {} : { ...before.secrets };
  const fields: Record<string, string> = { ...before.fields };
  for (const member of Object.keys(given).filter((name) => name !== "base_url")) {
    if (given[member as keyof CredentialInput] === undefined) continue;
    const place = member === "api_key" || secretFields.has(member) ? secrets : fields;
    const value = members[member];
    if (value === undefined) delete place[member];
    else place[member] = value;
  }
  const lost = isMoved ? Object.keys(before.secrets).filter((name) => given[asMember(name)] === undefined) : [];
  if (lost.length > 0) {
    const message = "must be sent again, or as null: a stored key is never sent to another address";
    throw invalid(Object.fromEntries(lost.map((name) => [name, [message]])));
  }
  return { base_url: nextUrl, fields, secrets };
}

/** Safe because secrets were members of an input when they were stored. */
function asMember(name: string): keyof CredentialInput {
  return name as keyof CredentialInput;
}

function readSupplied(given: CredentialInput): Record<string, string | undefined> {
  try {
    const { credential, baseUrl } = readCredential(given);
    return { ...credential.fields, api_key: credential.apiKey, base_url: baseUrl };
  } catch (error) {
    if (error instanceof BadCredential) throw invalid({ [error.member]: [error.message] });
    throw error;
  }
}

/** Refuses a credential that could never make a call. */
function checkComplete(
  provider: string,
  { base_url, fields, secrets }: CredentialParts,
  providers: ReadonlyMap<string, ProviderEntry>,
): void {
  const errors: FieldErrors = {};
  const need = (field: string, why = "is required"): void => {
    errors[field] = [why];
  };
  const isAws = provider === "bedrock";
  if (isAws) {
    if (fields["region"] === undefined && base_url === null) need("region");
    if (secrets["secret_access_key"] !== undefined && fields["access_key_id"] === undefined) need("access_key_id");
    if (fields["access_key_id"] !== undefined && secrets["secret_access_key"] === undefined) need("secret_access_key");
  } else if (base_url === null) {
    const vendorUrl = providers.get(provider)?.baseUrl;
    const isKnown = typeof vendorUrl === "function" ? vendorUrl({ fields }) !== undefined : vendorUrl !== undefined;
    if (!isKnown)
      need("base_url", `is required for ${provider}${provider === "cloudflare" ? ", or a valid account_id" : ""}`);
  }
  const hasKey = secrets["api_key"] !== undefined || secrets["secret_access_key"] !== undefined;
  if (!hasKey && base_url === null && !keylessProviders.has(provider)) need(isAws ? "secret_access_key" : "api_key");
  if (Object.keys(errors).length > 0) throw invalid(errors);
}

function readProvider(name: string): string {
  const provider = providerName(name);
  if (provider === builtInProvider)
    throw invalid({ provider: [`${builtInProvider} is built in and needs no setting`] });
  if (!providerNamePattern.test(provider)) {
    throw invalid({ provider: ["must be 1 to 64 lower-case letters, digits, - and _"] });
  }
  return provider;
}

function settled(before: ProviderSetting, change: Omit<SettingChange, "credential">): Traits {
  return {
    name: change.name ?? before.name,
    environment: change.environment === undefined ? before.environment : change.environment,
    available_models: change.available_models === undefined ? before.available_models : change.available_models,
    exclude_models: change.exclude_models ?? before.exclude_models,
    weight: change.weight ?? before.weight,
    is_enabled: change.is_enabled ?? before.is_enabled,
  };
}

/** Empty for a short key: four characters would reveal too much of it. */
function tailOf(secret: string | undefined): string {
  return secret !== undefined && secret.length >= 16 ? secret.slice(-4) : "";
}

function unreadable(): ServiceError {
  return invalid({ api_key: ["must be sent again: the stored key was sealed with another SPANWAY_SECRET_KEY"] });
}

function invalid(errors: FieldErrors): ServiceError {
  const [[field, messages] = ["", []]] = Object.entries(errors);
  return new ServiceError("invalid_request", `${field} ${messages[0] ?? "is not valid"}.`, { errors });
}
