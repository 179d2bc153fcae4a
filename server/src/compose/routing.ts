import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { deriveKey } from "../auth/secret-key.ts";
import type { Config } from "../config/config.ts";
import { keyVariables, providerFields, providers as variablePrefixes } from "../config/variables.ts";
import type { EnvironmentCredential } from "../gateway/credentials/credential-sources.ts";
import { createKnownProviders, type KnownProviders } from "../gateway/credentials/known-providers.ts";
import { createProviderSettings, type ProviderSettings } from "../gateway/credentials/provider-settings.ts";
import { createSecretBox, type SecretBox } from "../gateway/credentials/secret-box.ts";
import { createStoredSettings } from "../gateway/credentials/stored-settings.ts";
import { createCatalogue } from "../gateway/models/catalogue.ts";
import { createModelLister, type ModelLister } from "../gateway/models/list-reachable.ts";
import { anthropicTranslator } from "../gateway/providers/anthropic/translator.ts";
import { bedrockTranslator } from "../gateway/providers/bedrock/translator.ts";
import { geminiTranslator } from "../gateway/providers/gemini/translator.ts";
import { keylessProviders } from "../gateway/providers/quirks.ts";
import { createCoolDown } from "../gateway/routing/cool-down.ts";
import { createProviderTable } from "../gateway/routing/provider-table.ts";
import { createRouter, type Router } from "../gateway/routing/router.ts";
import type { Secret } from "../lib/secret.ts";
import { gatewayLimits } from "../gateway/limits.ts";
import type { ControlWatch } from "../storage/control/control-watch.ts";
import type { OrganizationStore } from "../storage/control/organization-store.ts";
import type { ProviderSettingStore } from "../storage/control/provider-setting-store.ts";
import type { GatewayMetrics } from "../telemetry/gateway-metrics.ts";

export type Routing = {
  router: Router;
  models: ModelLister;
  providerSettings: ProviderSettings;
  knownProviders: KnownProviders;
};

export type RoutingParts = {
  config: Pick<Config, "providers" | "staleS">;
  stores: { providerSettings: ProviderSettingStore; organizations: Pick<OrganizationStore, "find"> };
  control: ControlWatch;
  /** The instance's secret. */
  secretKey: Secret;
  metrics: GatewayMetrics;
  logger: Logger;
  now: () => number;
};

/** Which providers serve which model, and with which credentials. */
export async function composeRouting({
  config,
  stores,
  control,
  secretKey,
  metrics,
  logger,
  now,
}: RoutingParts): Promise<Routing> {
  const coolDown = createCoolDown({ now, onDropped: () => metrics.coolDownsDropped.inc() });
  metrics.watchCredentials(() => coolDown.size());
  const box = createSecretBox(secretKey);
  const store = stores.providerSettings;
  await warnOfUnreadable({ store, box, logger });
  const settings = createStoredSettings({
    store,
    control,
    staleMs: config.staleS * 1000,
    organizations: stores.organizations,
    box,
    now,
    onUnreadable: () => metrics.unreadableSettings.inc(),
  });
  const providers = createProviderTable({
    anthropic: anthropicTranslator,
    bedrock: bedrockTranslator,
    gemini: geminiTranslator,
  });
  const known = {
    providers,
    settings,
    catalogue: createCatalogue({ maxModels: gatewayLimits.cataloguedModels }),
    environment: environmentCredentials(config.providers),
    keyVariables: new Map(Object.entries(keyVariables)),
  };
  const onRetry = (kind: "retry" | "fallback"): void => metrics.retries.inc({ kind });
  return {
    router: createRouter({
      ...known,
      markKey: deriveKey(secretKey, "marks of keys"),
      coolDown,
      now,
      random: Math.random,
      sleep,
      onRetry,
    }),
    models: createModelLister(known),
    knownProviders: createKnownProviders({ ...known, variables: credentialVariables() }),
    providerSettings: createProviderSettings({ store, box, live: settings, providers, now, newId: randomUUID }),
  };
}

/** Reports a changed secret key at the start, and not only through the calls that fail because of it. */
async function warnOfUnreadable({
  store,
  box,
  logger,
}: {
  store: ProviderSettingStore;
  box: SecretBox;
  logger: Logger;
}): Promise<void> {
  const rows = await store.sample(gatewayLimits.settingsCheckedAtStart);
  const unreadable = rows.filter((row) => row.secret !== null && box.open(row.secret, row) === undefined).length;
  if (unreadable === 0) return;
  logger.warn(
    { unreadable, checked: rows.length },
    "stored provider keys cannot be read: they were stored under another SPANWAY_SECRET_KEY; start with that one, or enter them again",
  );
}

/** Providers for which the environment has enough to make a call: a key, a base URL, or AWS keys. */
function environmentCredentials(config: Config["providers"]): ReadonlyMap<string, EnvironmentCredential> {
  const credentials = new Map<string, EnvironmentCredential>();
  for (const [name, { apiKey, baseUrl, fields }] of Object.entries(config)) {
    if (apiKey === undefined && baseUrl === undefined && fields["secret_access_key"] === undefined) continue;
    const revealed = Object.entries(fields).map(([member, value]) => [member, value.reveal()]);
    credentials.set(name, { apiKey, baseUrl, fields: Object.fromEntries(revealed) });
  }
  return credentials;
}

/** Self-hosted providers need a base URL, all others a key. */
function credentialVariables(): ReadonlyMap<string, { name: string; fields: readonly string[] }> {
  const fields: Readonly<Record<string, object>> = providerFields;
  const named = Object.entries(variablePrefixes).map(([provider, prefix]) => {
    const name = `${prefix}_${keylessProviders.has(provider) ? "BASE_URL" : "API_KEY"}`;
    return [provider, { name, fields: Object.keys(fields[provider] ?? {}) }] as const;
  });
  return new Map(named);
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch {
    signal.throwIfAborted();
  }
}
