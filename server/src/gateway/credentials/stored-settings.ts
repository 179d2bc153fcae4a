import { ServiceError } from "../../domain/errors.ts";
import type { SealedProviderSetting } from "../../domain/provider-setting.ts";
import type { Environment } from "../../domain/principal.ts";
import { ExpiringLru } from "../../lib/expiring-lru.ts";
import { gatewayLimits } from "../limits.ts";
import type { ControlWatch } from "../../storage/control/control-watch.ts";
import type { OrganizationStore } from "../../storage/control/organization-store.ts";
import type { ProviderSettingStore } from "../../storage/control/provider-setting-store.ts";
import type { SecretBox } from "./secret-box.ts";
import type { UsableCredential } from "./usable-credential.ts";

/** A decrypted setting. */
export type OpenSetting = UsableCredential & {
  provider: string;
  environment: Environment | null;
  /** For a setting of prod: test calls may use it if test has none. */
  servesTest: boolean;
};

/** An enabled setting whose secret does not open: another SPANWAY_SECRET_KEY sealed it, or it is damaged. */
export type UnreadableSetting = { id: string; provider: string; availableModels: readonly string[] | undefined };

/**
 * The enabled provider settings of organizations, decrypted and cached for seconds: a change on another node applies
 * after `gatewayLimits.cachedProviderSettingMs`, one on this node immediately. For `staleMs` they serve while the
 * control store is unavailable.
 */
export type StoredSettings = {
  /** Synchronous if the settings are cached. @throws ServiceError `unavailable` if the store does not respond */
  of(organizationId: string): readonly OpenSetting[] | Promise<readonly OpenSetting[]>;
  /** The settings that `of` left out when it last read. */
  unreadable(organizationId: string): readonly UnreadableSetting[];
  /** Drops the cached settings of an organization after a change. */
  evict(organizationId: string): void;
};

export type StoredSettingsDeps = {
  store: Pick<ProviderSettingStore, "list">;
  control: Pick<ControlWatch, "orStale">;
  staleMs: number;
  organizations: Pick<OrganizationStore, "find">;
  box: SecretBox;
  now: () => number;
  /** Called for each setting that could not be opened and is left out. */
  onUnreadable?: () => void;
};

type Opened = { settings: readonly OpenSetting[]; unreadable: readonly UnreadableSetting[] };
type Known = Opened & { loadedMs: number };

export function createStoredSettings({
  store,
  control,
  staleMs,
  organizations,
  box,
  now,
  onUnreadable,
}: StoredSettingsDeps): StoredSettings {
  const freshMs = gatewayLimits.cachedProviderSettingMs;
  // Retained longer than it is fresh, for when the store does not respond.
  const known = new ExpiringLru<string, Known>({
    maxEntries: gatewayLimits.cachedProviderSettings,
    ttlMs: freshMs + staleMs,
    nowMs: now,
  });
  const loads = new Map<string, Promise<readonly OpenSetting[]>>();

  const openAll = (rows: readonly SealedProviderSetting[], isShared: boolean): Opened => {
    const settings: OpenSetting[] = [];
    const unreadable: UnreadableSetting[] = [];
    for (const row of rows.filter(({ is_enabled }) => is_enabled)) {
      const opened = openSetting(row, { box, isShared });
      if (opened !== undefined) settings.push(opened);
      else {
        unreadable.push({ id: row.id, provider: row.provider, availableModels: row.available_models ?? undefined });
        onUnreadable?.();
      }
    }
    return { settings, unreadable };
  };

  const load = (organizationId: string): Promise<readonly OpenSetting[]> => {
    const loadedMs = now();
    const read = async (): Promise<readonly OpenSetting[]> => {
      const reads = [store.list(organizationId), organizations.find(organizationId)] as const;
      const [rows, organization] = await Promise.all(reads);
      const opened = openAll(rows, organization?.test_uses_prod_providers === true);
      // If `forget` was called meanwhile, the result may be older than the change: use it for this call, but do not
      // cache it.
      if (loads.get(organizationId) === loading) known.set(organizationId, { ...opened, loadedMs });
      return opened.settings;
    };
    const stale = known.get(organizationId);
    const loading: Promise<readonly OpenSetting[]> = control
      .orStale("provider_settings", read, stale && (() => stale.settings))
      .catch((cause: unknown) => {
        throw new ServiceError("unavailable", "Provider settings cannot be read just now.", { retryAfterS: 1, cause });
      })
      .finally(() => {
        if (loads.get(organizationId) === loading) loads.delete(organizationId);
      });
    loads.set(organizationId, loading);
    return loading;
  };

  return {
    of: (organizationId) => {
      const entry = known.get(organizationId);
      const ageMs = entry === undefined ? Number.POSITIVE_INFINITY : now() - entry.loadedMs;
      if (entry !== undefined && ageMs < freshMs) {
        // Busy organizations never wait: settings that expire soon are read again in the background.
        if (ageMs > freshMs / 2 && !loads.has(organizationId)) load(organizationId).catch(() => {});
        return entry.settings;
      }
      return loads.get(organizationId) ?? load(organizationId);
    },
    unreadable: (organizationId) => known.get(organizationId)?.unreadable ?? [],
    evict: (organizationId) => {
      loads.delete(organizationId);
      known.delete(organizationId);
    },
  };
}

function openSetting(
  row: SealedProviderSetting,
  { box, isShared }: { box: SecretBox; isShared: boolean },
): OpenSetting | undefined {
  const secrets = row.secret === null ? {} : box.open(row.secret, row);
  if (secrets === undefined) return undefined;
  const { api_key: apiKey, ...secretFields } = secrets;
  return {
    provider: row.provider,
    environment: row.environment,
    source: row.id,
    servesTest: isShared && row.environment === "prod",
    credential: { ...(apiKey !== undefined && { apiKey }), fields: { ...row.fields, ...secretFields } },
    baseUrl: row.base_url ?? undefined,
    isCallerHost: false,
    weight: row.weight,
    availableModels: row.available_models ?? undefined,
    excludeModels: row.exclude_models,
  };
}
