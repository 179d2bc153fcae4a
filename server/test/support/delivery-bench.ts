import type { ServerResponse } from "node:http";
import { pino } from "pino";
import { Registry } from "prom-client";
import { vi } from "vitest";
import { openMemoryControl } from "./memory-control.ts";
import { startReceiver, verify, type Received } from "./receiver.ts";
import type { AllowedUpstream } from "../../src/domain/allowed-upstream.ts";
import type { Webhook } from "../../src/domain/webhook.ts";
import { Secret } from "../../src/lib/secret.ts";
import { createAddressGuard, type Resolve } from "../../src/outgoing/address-guard.ts";
import { createPools } from "../../src/outgoing/pools.ts";
import type { ControlStores } from "../../src/storage/control/control-stores.ts";
import { createDeliveryMetrics } from "../../src/telemetry/delivery-metrics.ts";
import { createBacklog, type Backlog } from "../../src/delivery/backlog.ts";
import { createDeliveryQueue } from "../../src/delivery/delivery-queue.ts";
import { createDeliverer, type Deliverer } from "../../src/delivery/deliverer.ts";
import { createEvents, type Events, type WebhookEvent } from "../../src/delivery/events.ts";
import { createSend } from "../../src/delivery/send.ts";
import { createWebhookDirectory, type WebhookDirectory } from "../../src/delivery/webhook-directory.ts";
import { createWebhookSecrets } from "../../src/delivery/webhook-secrets.ts";

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
const localhost: AllowedUpstream = { kind: "network", address: "127.0.0.1", prefixBits: 32 };

type Clock = { ms: number };
export type NodeOptions = { allowed?: AllowedUpstream[]; resolve?: Resolve; timeoutMs?: number };
type Node = {
  deliverer: Deliverer;
  events: Events;
  directory: WebhookDirectory;
  backlog: Backlog;
  stop(): Promise<void>;
};

/** One node that processes a queue, which others may share. Only the test moves the clock. */
export async function startNode(stores: ControlStores, clock: Clock, options: NodeOptions = {}): Promise<Node> {
  const { allowed = [localhost], resolve, timeoutMs = 500 } = options;
  const now = () => clock.ms;
  const directory = createWebhookDirectory(stores.webhooks);
  const backlog = createBacklog(stores.deliveries);
  await directory.refresh();
  const pools = createPools({ guard: createAddressGuard({ allowed, connectMs: 400, ...(resolve && { resolve }) }) });
  const metrics = createDeliveryMetrics(new Registry(), {
    backlog: () => backlog.total(),
    inFlight: () => deliverer.inFlight(),
    aheadBytes: () => deliverer.aheadBytes(),
    active: () => 0,
    fullTraceWatches: () => 0,
  });
  const shared = { deliveries: stores.deliveries, webhooks: stores.webhooks, directory, backlog, metrics, now };
  const deliverer = createDeliverer({
    ...shared,
    queue: createDeliveryQueue(stores),
    secrets,
    send: createSend(pools, timeoutMs),
    sendMail: undefined,
    logger: pino({ level: "silent" }),
  });
  const events = createEvents({ ...shared, stores, onQueued: (ids) => deliverer.due(ids) });
  deliverer.start();
  const stop = async () => {
    await deliverer.stop();
    pools.close();
  };
  return { deliverer, events, directory, backlog, stop };
}

export const secrets = createWebhookSecrets(new Secret("a secret of the instance"));

/** A receiver, control stores in memory and one node that uses them. `cleanup` undoes it, in reverse order. */
export async function deliveryBench(cleanup: Array<() => Promise<unknown>>, options: NodeOptions = {}) {
  const { stores, close } = await openMemoryControl();
  cleanup.push(close);
  const receiver = await startReceiver();
  cleanup.push(() => receiver.close());
  const clock = { ms: Date.parse("2026-03-01T10:00:00.000Z") };
  await newOrganization(stores, "org_a");
  const node = await startNode(stores, clock, options);
  cleanup.push(() => node.stop());
  let made = 0;

  const hook = async (fields: Partial<Webhook> = {}): Promise<Webhook & { plain: string; path: string }> => {
    made += 1;
    const organization = fields.unique_organization_id ?? "org_a";
    const { secret, sealed } = secrets.make(organization);
    const webhook = await stores.webhooks.create({
      unique_organization_id: organization,
      environment: null,
      organization_key: null,
      name: "Hook",
      url: `${receiver.url}/${made}`,
      event_type: "request_log",
      active: true,
      legacy_signatures: false,
      secret: sealed,
      created_at: new Date(clock.ms).toISOString(),
      ...fields,
    });
    await node.directory.refresh();
    return { ...webhook, plain: secret, path: new URL(webhook.url).pathname };
  };
  const logOf = async (webhook: Webhook) =>
    (await stores.deliveries.list(webhook.unique_organization_id, webhook.id, { page: 1, pageSize: 100 })).rows;
  /** Moves the clock forward in steps, and runs everything that is due at each. */
  const pass = async (ms: number, stepMs = minuteMs): Promise<void> => {
    for (const end = clock.ms + ms; clock.ms < end;) {
      clock.ms += Math.min(stepMs, end - clock.ms);
      await node.deliverer.idle();
    }
  };
  return { ...node, node, stores, receiver, clock, hook, logOf, pass };
}

export async function newOrganization(stores: ControlStores, unique_organization_id: string): Promise<void> {
  await stores.organizations.create({
    unique_organization_id,
    name: unique_organization_id,
    retention_days: null,
    created_at: "2026-03-01T10:00:00.000Z",
  });
}

export function event(id: string, fields: Partial<WebhookEvent> = {}): WebhookEvent {
  return {
    type: "request_log",
    organizationId: "org_a",
    environment: "prod",
    id,
    payload: () => ({ id }),
    ...fields,
  };
}

/** The reference library reads the real clock. */
export function verifyAt(ms: number, secret: string, request: Received): unknown {
  vi.useFakeTimers({ toFake: ["Date"], now: ms });
  try {
    return verify(secret, request);
  } finally {
    vi.useRealTimers();
  }
}

export const status = (code: number) => (_request: unknown, response: ServerResponse) =>
  void response.writeHead(code).end();
