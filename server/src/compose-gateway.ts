import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Config } from "./config.ts";
import { createChat, type Chat } from "./gateway/chat.ts";
import { unlimited } from "./gateway/budgets.ts";
import type { EnvironmentCredential } from "./gateway/credentials/credential-sources.ts";
import { createSecretBox } from "./gateway/credentials/secret-box.ts";
import { createStoredSettings } from "./gateway/credentials/stored-settings.ts";
import { createCatalogue } from "./gateway/models/catalogue.ts";
import { anthropicTranslator } from "./gateway/providers/anthropic/translator.ts";
import { bedrockTranslator } from "./gateway/providers/bedrock/translator.ts";
import { geminiTranslator } from "./gateway/providers/gemini/translator.ts";
import { createRecorder } from "./gateway/recorder.ts";
import { createCoolDown } from "./gateway/routing/cool-down.ts";
import { createProviderTable } from "./gateway/routing/provider-table.ts";
import { createRouter } from "./gateway/routing/router.ts";
import type { SpanIntake } from "./ingest/accept.ts";
import { createPriceBook } from "./ingest/enrich/price.ts";
import type { Secret } from "./lib/secret.ts";
import { limits } from "./limits.ts";
import { createAddressGuard } from "./outgoing/address-guard.ts";
import { createPools, type Pools } from "./outgoing/pools.ts";
import type { ControlStores } from "./storage/control/control-stores.ts";
import { createGatewayMetrics } from "./telemetry/gateway-metrics.ts";

export type Gateway = {
  chat: Chat;
  /** Connections to other servers, for whoever else makes some. */
  pools: Pools;
};

export type GatewayParts = {
  config: Config;
  stores: Pick<ControlStores, "providerSettings">;
  secretKey: Secret;
  intake: SpanIntake;
  logger: Logger;
  now: () => number;
};

/** Calls to model providers, and the record of each. */
export function composeGateway(
  { registry, cleanup }: { registry: Registry; cleanup: Array<() => Promise<void> | void> },
  { config, stores, secretKey, intake, logger, now }: GatewayParts,
): Gateway {
  const metrics = createGatewayMetrics(registry);
  const guard = createAddressGuard({ allowed: config.allowPrivateUpstreams, connectMs: limits.upstreamConnectMs });
  const pools = createPools({ guard, onEviction: () => metrics.poolEvictions.inc() });
  cleanup.push(() => pools.close());
  const recorder = createRecorder({ intake, metrics, logger });
  cleanup.push(() => recorder.stop(limits.shutdownGraceMs));
  const router = createRouter({
    providers: createProviderTable({
      anthropic: anthropicTranslator,
      bedrock: bedrockTranslator,
      gemini: geminiTranslator,
    }),
    catalogue: createCatalogue({ maxModels: limits.pricedModels }),
    settings: createStoredSettings({ store: stores.providerSettings, box: createSecretBox(secretKey), now }),
    environment: environmentOf(config),
    coolDown: createCoolDown({ now, onDropped: () => metrics.coolDownsDropped.inc() }),
    now,
    random: Math.random,
    sleep: (ms, signal) => delay(ms, undefined, { signal }),
    onRetry: (kind) => metrics.retries.inc({ kind }),
  });
  const chat = createChat({
    pools,
    timeouts: {
      firstByteMs: config.upstreamFirstByteMs,
      idleMs: config.upstreamIdleMs,
      totalMs: config.upstreamTotalMs,
    },
    now,
    router,
    budgets: unlimited,
    recorder,
    prices: createPriceBook({ maxModels: limits.pricedModels }),
    metrics,
  });
  return { chat, pools };
}

/** What the environment says of providers; those of which it says nothing are left out. */
function environmentOf({ providers }: Config): ReadonlyMap<string, EnvironmentCredential> {
  const named = Object.entries(providers).filter(([, { apiKey, baseUrl }]) => (apiKey ?? baseUrl) !== undefined);
  return new Map(named.map(([name, { apiKey, baseUrl }]) => [name, { apiKey, baseUrl, fields: {} }]));
}
