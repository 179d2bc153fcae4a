import type { WatchLimits } from "../lib/fair-share.ts";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { findTraceOwner } from "../api/traces/trace-owner.ts";
import { eventPayloads } from "../api/webhooks/event-payloads.ts";
import type { Config } from "../config/config.ts";
import { createAttempt, type Attempt } from "../delivery/attempt.ts";
import { createBacklog } from "../delivery/backlog.ts";
import { publishCompletedTraces, type CompletedTracesDeps } from "../delivery/completed-traces.ts";
import { createDeliveryQueue } from "../delivery/delivery-queue.ts";
import { createDeliverer, type Deliverer } from "../delivery/deliverer.ts";
import { createEvents, type Events } from "../delivery/events.ts";
import { purgeDeliveries } from "../delivery/housekeeping.ts";
import { createSend } from "../delivery/send.ts";
import { createScoreEvents } from "../delivery/score-events.ts";
import { createSpanEvents, createTraceWatching } from "../delivery/span-subscribers.ts";
import { createWebhookDirectory, type WebhookDirectory } from "../delivery/webhook-directory.ts";
import { createWebhookSecrets, type WebhookSecrets } from "../delivery/webhook-secrets.ts";
import type { Score } from "../domain/score.ts";
import type { SpanSubscriber } from "../ingest/fan-out/fan-out.ts";
import { createQueueCapacity } from "../ingest/fan-out/queue-capacity.ts";
import { scheduleJob } from "../jobs/schedule.ts";
import type { Secret } from "../lib/secret.ts";
import { deliveryLimits } from "../delivery/limits.ts";
import { gatewayLimits } from "../gateway/limits.ts";
import { ingestLimits } from "../ingest/limits.ts";
import { outgoingLimits } from "../outgoing/limits.ts";
import { createAddressGuard } from "../outgoing/address-guard.ts";
import { createRefusalOf, type RefusalOf } from "../outgoing/refused-address.ts";
import { createMailer } from "../outgoing/mailer.ts";
import { createPools } from "../outgoing/pools.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import { createDeliveryMetrics } from "../telemetry/delivery-metrics.ts";

export type Delivery = {
  events: Events;
  /** Publishes new scores; resolves once the events are stored. */
  publishScores: (scores: readonly Score[]) => Promise<void>;
  /** Get every stored span. */
  subscribers: SpanSubscriber[];
  /** Used by the API. */
  deliverer: Deliverer;
  webhookSecrets: WebhookSecrets;
  webhookDirectory: WebhookDirectory;
  /** Sends once and immediately, bypassing the queue. */
  attempt: Attempt;
  hasMail: boolean;
  /** Begins the links of tests, as those of alerts. */
  publicUrl: string | undefined;
  refusalOf: RefusalOf;
};

export type DeliveryParts = {
  config: Pick<Config, "allowPrivateUpstreams" | "publicUrl" | "traceQuietS" | "smtpUrl" | "smtpFrom">;
  stores: ControlStores;
  spans: SpanStore;
  secretKey: Secret;
  registry: Registry;
  watchLimits: WatchLimits;
  logger: Logger;
  cleanup: Array<() => Promise<void> | void>;
  now: () => number;
};

/** Webhooks: events are queued in the control store and sent from there. */
export async function composeDelivery(parts: DeliveryParts): Promise<Delivery> {
  const { config, stores, secretKey, registry, watchLimits, logger, cleanup, now } = parts;
  const directory = createWebhookDirectory(stores.webhooks);
  const backlog = createBacklog(stores.deliveries);
  const room = createQueueCapacity({
    maxEntries: deliveryLimits.traceWatches,
    count: () => stores.traceWatches.waiting(),
    onFull: (organizationId) =>
      logger.warn({ organizationId }, "the limit of watched traces is reached; further ones are read back later"),
  });
  await Promise.all([directory.refresh(), backlog.refresh(), room.refresh()]);
  const metrics = createDeliveryMetrics(registry, {
    backlog: () => backlog.total(),
    inFlight: () => deliverer.inFlight(),
    aheadBytes: () => deliverer.aheadBytes(),
    active: () => directory.ids().length,
    fullTraceWatches: () => room.full(),
  });

  // Separate pools: receivers must not evict providers from those of the gateway.
  const guard = createAddressGuard({
    allowed: config.allowPrivateUpstreams,
    connectMs: outgoingLimits.upstreamConnectMs,
  });
  const pools = createPools({ guard });
  cleanup.push(() => pools.close());
  const secrets = createWebhookSecrets(secretKey);
  warnOfUnreadable({ directory, secrets, logger });
  const shared = { deliveries: stores.deliveries, webhooks: stores.webhooks, directory, backlog, metrics, now };
  const queue = createDeliveryQueue(stores);
  const sendMail =
    config.smtpUrl &&
    createMailer({ url: config.smtpUrl, from: config.smtpFrom, timeoutMs: deliveryLimits.webhookTimeoutMs });
  const sending = { secrets, send: createSend(pools), sendMail, metrics, now };
  const deliverer = createDeliverer({ ...shared, ...sending, queue, logger });
  const events = createEvents({ ...shared, stores, onQueued: (webhookIds) => deliverer.due(webhookIds) });
  const limits = deliverer.limits();
  watchLimits({ webhookInFlight: limits.inFlight, webhookAheadBytes: limits.aheadBytes });
  deliverer.start();
  cleanup.push(() => deliverer.stop());
  scheduleUpkeep(parts, { directory, backlog, room, events });

  const { traceWatches } = stores;
  const subscribers = [
    createSpanEvents({ events, directory, presentSpan: eventPayloads.presentSpan }),
    createTraceWatching({ directory, traceWatches, room, traceQuietMs: config.traceQuietS * 1_000, now }),
  ];
  const publishScores = createScoreEvents({ events, spans: parts.spans, presentScore: eventPayloads.presentScore });
  const surface = { deliverer, webhookSecrets: secrets, webhookDirectory: directory };
  const sender = { attempt: createAttempt(sending), hasMail: sendMail !== undefined, publicUrl: config.publicUrl };
  const refusalOf = createRefusalOf(config.allowPrivateUpstreams);
  return { events, publishScores, subscribers, ...surface, ...sender, refusalOf };
}

/** Such webhooks would send nothing, and report it only in their delivery logs. */
function warnOfUnreadable({
  directory,
  secrets,
  logger,
}: {
  directory: WebhookDirectory;
  secrets: WebhookSecrets;
  logger: Logger;
}): void {
  const webhooks = directory
    .ids()
    .slice(0, gatewayLimits.settingsCheckedAtStart)
    .flatMap((id) => directory.get(id) ?? []);
  const unreadable = webhooks.filter((webhook) => !secrets.isReadable(webhook)).length;
  if (unreadable === 0) return;
  logger.warn(
    { unreadable, checked: webhooks.length },
    "secrets of webhooks cannot be read: they were stored under another SPANWAY_SECRET_KEY; start with that one, or rotate them",
  );
}

type Refreshed = { refresh(): Promise<void> };

/** Loads changes of other nodes, finds completed traces, and trims the log. */
function scheduleUpkeep(
  { stores, spans, logger, cleanup, now }: DeliveryParts,
  {
    directory,
    backlog,
    room,
    events,
  }: { directory: WebhookDirectory; backlog: Refreshed; room: Refreshed; events: Events },
): void {
  const every = (name: string, everyMs: number, work: (signal: AbortSignal) => Promise<void>): void => {
    const job = scheduleJob({ name, everyMs, logger }, work);
    cleanup.push(() => job.stop());
  };
  every("webhooks", deliveryLimits.webhookRefreshEveryMs, () => directory.refresh());
  every("webhook backlog", deliveryLimits.webhookBacklogEveryMs, () => backlog.refresh());
  every("room for traces", ingestLimits.queueCapacityEveryMs, () => room.refresh());
  every("webhook log", deliveryLimits.webhookPurgeEveryMs, (signal) =>
    purgeDeliveries({ deliveries: stores.deliveries, directory, now }, signal),
  );
  const { rootFields } = eventPayloads;
  const presentTrace: CompletedTracesDeps["presentTrace"] = async (trace, root, organizationId) =>
    eventPayloads.presentTrace(trace, root, await findTraceOwner(stores.organizations, organizationId));
  const traces = { traceWatches: stores.traceWatches, spans, events, presentTrace, rootFields, now };
  every("completed traces", deliveryLimits.traceWatchEveryMs, (signal) => publishCompletedTraces(traces, signal));
}
