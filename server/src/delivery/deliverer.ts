import type { Logger } from "pino";
import type { Delivery, Webhook } from "../domain/webhook.ts";
import { limits } from "../limits.ts";
import type { DeliveryOutcome, DeliveryStore } from "../storage/control/delivery-store.ts";
import type { WebhookStore } from "../storage/control/webhook-store.ts";
import type { DeliveryMetrics } from "../telemetry/delivery-metrics.ts";
import type { Backlog } from "./backlog.ts";
import { nextAttemptMs } from "./retry.ts";
import type { Send, SendResult } from "./send.ts";
import { signatureHeaders } from "./sign.ts";
import type { WebhookDirectory } from "./webhook-directory.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

/**
 * Takes deliveries off the durable queue and sends them, on as many nodes as there are.
 *
 * Webhooks are independent: each has a bound on what is under way for it, which grows with successes and shrinks with failures, and they take turns, so
 * that one that hangs delays no other. What was claimed and not finished, as its node died, is due again when its claim ends.
 */
export type Deliverer = {
  start(): void;
  /** Something is due for these webhooks: without it the next look at the queue finds out. */
  due(webhookIds: Iterable<number>): void;
  /** Attempts under way. */
  inFlight(): number;
  /** Resolves when nothing is under way and nothing due was left; for tests. */
  idle(): Promise<void>;
  /** Cuts what is under way: that is due again at once, and costs no attempt. */
  stop(): Promise<void>;
};

export type DelivererDeps = {
  deliveries: Pick<DeliveryStore, "queues" | "claim" | "finish" | "abandon">;
  webhooks: Pick<WebhookStore, "noteFailure" | "noteSuccess" | "disable">;
  directory: Pick<WebhookDirectory, "get" | "refresh">;
  backlog: Pick<Backlog, "finished">;
  secrets: Pick<WebhookSecrets, "signing">;
  send: Send;
  metrics: Pick<DeliveryMetrics, "attempts" | "attemptSeconds" | "disabled">;
  logger: Logger;
  now: () => number;
};

export function createDeliverer(deps: DelivererDeps): Deliverer {
  return new QueueDeliverer(deps);
}

/** What is known here of how a webhook does. */
type Endpoint = { inFlight: number; slots: number };

class QueueDeliverer implements Deliverer {
  readonly #deps: DelivererDeps;
  readonly #stopping = new AbortController();
  readonly #endpoints = new Map<number, Endpoint>();
  readonly #due = new Set<number>();
  #inFlight = 0;
  #finished: DeliveryOutcome[] = [];
  #polledAtMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;
  #wake = (): void => undefined;
  #isWoken = false;
  #whenIdle: Array<() => void> = [];

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#running = this.#loop();
  }

  due(webhookIds: Iterable<number>): void {
    for (const id of webhookIds) this.#due.add(id);
    this.#wakeUp();
  }

  inFlight(): number {
    return this.#inFlight;
  }

  idle(): Promise<void> {
    this.#polledAtMs = Number.NEGATIVE_INFINITY;
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#wakeUp();
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wakeUp();
    await this.#running;
    while (this.#inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
    await this.#store().catch(() => undefined);
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopping;
    let wasFailing = false;
    while (!signal.aborted) {
      this.#isWoken = false;
      try {
        await this.#store();
        await this.#poll();
        await this.#claimAll();
        wasFailing = false;
      } catch (error) {
        if (!wasFailing) this.#deps.logger.error({ err: error }, "the queue of webhooks cannot be read or written");
        wasFailing = true;
      }
      this.#tellIdle();
      await this.#rest(wasFailing);
    }
  }

  /** Writes down how attempts ended. What cannot be written is kept for the next time, while its claims last. */
  async #store(): Promise<void> {
    const outcomes = this.#finished;
    if (outcomes.length === 0) return;
    this.#finished = [];
    try {
      await this.#deps.deliveries.finish(outcomes);
    } catch (error) {
      this.#finished.push(...outcomes);
      throw error;
    }
  }

  async #poll(): Promise<void> {
    const { deliveries, directory, now } = this.#deps;
    const nowMs = now();
    if (nowMs - this.#polledAtMs < limits.webhookPollEveryMs) return;
    const at = new Date(nowMs).toISOString();
    for (const { webhook_id: id, next_attempt_at } of await deliveries.queues()) {
      if (directory.get(id) === undefined) await this.#abandon(id);
      else if (next_attempt_at <= at) this.#due.add(id);
    }
    this.#polledAtMs = nowMs;
  }

  /** In portions, as the control store may run on this thread. What another node just switched on stays as it is. */
  async #abandon(webhookId: number): Promise<void> {
    const { deliveries, backlog } = this.#deps;
    const portion: number = limits.webhookPurgeRows;
    for (let ended = portion; ended === portion && !this.#stopping.signal.aborted;) {
      const sizes = await deliveries.abandon(webhookId, portion);
      for (const bytes of sizes) backlog.finished(webhookId, bytes);
      ended = sizes.length;
      if (ended === portion) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** In turns: a webhook that had its share goes behind the others. */
  async #claimAll(): Promise<void> {
    const turn = Array.from(this.#due);
    for (const id of turn) {
      const room = limits.webhookInFlight - this.#inFlight;
      if (room <= 0 || this.#stopping.signal.aborted) return;
      const webhook = this.#deps.directory.get(id);
      if (webhook === undefined) {
        this.#due.delete(id);
        continue;
      }
      const endpoint = this.#endpoint(id);
      const free = Math.min(room, endpoint.slots - endpoint.inFlight);
      // Few at a time would cost a statement each.
      if (free <= 0 || (free < endpoint.slots / 2 && endpoint.inFlight > 0)) continue;
      if ((await this.#claim(webhook, endpoint, free)) < free) this.#due.delete(id);
      else if (this.#due.delete(id)) this.#due.add(id);
    }
  }

  async #claim(webhook: Webhook, endpoint: Endpoint, limit: number): Promise<number> {
    const nowMs = this.#deps.now();
    const claimed = await this.#deps.deliveries.claim(webhook.id, {
      now: new Date(nowMs).toISOString(),
      until: new Date(nowMs + limits.webhookClaimMs).toISOString(),
      limit,
    });
    for (const delivery of claimed) {
      endpoint.inFlight += 1;
      this.#inFlight += 1;
      void this.#deliver(webhook, endpoint, delivery).finally(() => {
        endpoint.inFlight -= 1;
        this.#inFlight -= 1;
        this.#wakeUp();
      });
    }
    return claimed.length;
  }

  /** Never rejects. */
  async #deliver(webhook: Webhook, endpoint: Endpoint, delivery: Delivery): Promise<void> {
    try {
      const result = await this.#attempt(webhook, delivery);
      const isStopped = this.#stopping.signal.aborted && !result.isDelivered;
      this.#note(webhook, delivery, result, isStopped);
      if (isStopped) return;
      endpoint.slots = result.isDelivered
        ? Math.min(limits.webhookInFlightEach, endpoint.slots + 1)
        : Math.max(limits.webhookInFlightFailing, endpoint.slots >> 1);
      if (result.isDelivered && webhook.failing_since !== null) await this.#deps.webhooks.noteSuccess(webhook.id);
      if (!result.isDelivered) await this.#judge(webhook, result);
    } catch (error) {
      this.#deps.logger.error({ err: error, webhook: webhook.id }, "the outcome of a delivery could not be noted");
    }
  }

  async #attempt(webhook: Webhook, { event_id, event_type, payload, expires_at }: Delivery): Promise<SendResult> {
    const { send, secrets, metrics, now } = this.#deps;
    const nowMs = now();
    const failed = (error: string) => ({
      isDelivered: false,
      status: null,
      body: null,
      error,
      retryAfterMs: undefined,
    });
    if (nowMs >= Date.parse(expires_at)) return failed("it waited too long for its turn");
    const keys = secrets.signing(webhook, nowMs);
    if (keys === undefined) return failed("its secret cannot be read: SPANWAY_SECRET_KEY has changed; rotate it");
    const signed = signatureHeaders({ id: event_id, timestampS: Math.floor(nowMs / 1_000), body: payload }, keys);
    const headers = { ...fixedHeaders, "x-svc-event": event_type, ...signed };
    const stop = metrics.attemptSeconds.startTimer();
    const result = await send({ url: webhook.url, headers, body: payload }, this.#stopping.signal);
    stop();
    metrics.attempts.inc({ outcome: result.isDelivered ? "delivered" : "failed" });
    return result;
  }

  #note(webhook: Webhook, delivery: Delivery, result: SendResult, isStopped: boolean): void {
    const nowMs = this.#deps.now();
    const attempts = delivery.attempts + (isStopped ? 0 : 1);
    const next = isStopped
      ? nowMs
      : nextAttemptMs({
          attempts,
          nowMs,
          endMs: Date.parse(delivery.expires_at),
          retryAfterMs: result.retryAfterMs,
          random: Math.random(),
        });
    const isPending = !result.isDelivered && next !== undefined;
    this.#finished.push({
      id: delivery.id,
      attempts: delivery.attempts,
      status: result.isDelivered ? "delivered" : isPending ? "pending" : "failed",
      isAttempt: !isStopped,
      next_attempt_at: isPending ? new Date(next).toISOString() : null,
      last_attempt_at: new Date(nowMs).toISOString(),
      response_status: result.status,
      response_body: result.body,
      error: result.error,
    });
    if (!isPending) this.#deps.backlog.finished(webhook.id, delivery.payload.length);
  }

  /** Switches a webhook off that is gone, or that has taken nothing for days. */
  async #judge(webhook: Webhook, { status, error }: SendResult): Promise<void> {
    const { webhooks, directory, metrics, logger, now } = this.#deps;
    const nowMs = now();
    const at = new Date(nowMs).toISOString();
    const since = webhook.failing_since ?? (await webhooks.noteFailure(webhook.id, at));
    const failingMs = since === undefined ? 0 : nowMs - Date.parse(since);
    const isGone = status === 410;
    if (!isGone && failingMs < limits.webhookDisableAfterMs) return;
    const reason = isGone
      ? "The receiver answered 410 Gone."
      : `No delivery has succeeded since ${since}. The last error: ${error ?? "unknown"}.`;
    await webhooks.disable(webhook.id, reason, at);
    metrics.disabled.inc();
    logger.warn({ webhook: webhook.id, failingMs }, "a webhook was switched off");
    await directory.refresh();
  }

  #endpoint(id: number): Endpoint {
    const known = this.#endpoints.get(id);
    if (known !== undefined) return known;
    if (this.#endpoints.size >= limits.webhookInFlight * 4) {
      for (const [key, { inFlight }] of this.#endpoints) if (inFlight === 0) this.#endpoints.delete(key);
    }
    const endpoint = { inFlight: 0, slots: limits.webhookInFlightFirst };
    this.#endpoints.set(id, endpoint);
    return endpoint;
  }

  #tellIdle(): void {
    const isIdle = this.#inFlight === 0 && this.#finished.length === 0 && this.#due.size === 0;
    if (isIdle) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #wakeUp(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** A moment at least, so that outcomes and claims come in groups; until the next look at the queue at most. */
  async #rest(isFailing: boolean): Promise<void> {
    const pause = (ms: number) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    if (!this.#isWoken && !isFailing) await pause(limits.webhookPollEveryMs);
    this.#wake = () => undefined;
    if (!this.#stopping.signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, isFailing ? limits.webhookPollEveryMs : limits.webhookPaceMs));
    }
  }
}

const fixedHeaders = { "content-type": "application/json", "user-agent": "Spanway-Webhooks/1" };
