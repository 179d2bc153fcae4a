import type { Logger } from "pino";
import type { Delivery, Webhook } from "../domain/webhook.ts";
import { FairShare, type SharedLimit } from "../lib/fair-share.ts";
import { deliveryLimits } from "./limits.ts";
import type { DeliveryOutcome } from "../storage/control/delivery-store.ts";
import type { WebhookStore } from "../storage/control/webhook-store.ts";
import type { DeliveryMetrics } from "../telemetry/delivery-metrics.ts";
import { createAttempt, type Attempt, type AttemptDeps } from "./attempt.ts";
import type { Backlog } from "./backlog.ts";
import type { DeliveryQueue, QueueClaim } from "./delivery-queue.ts";
import { Endpoint } from "./endpoint.ts";
import { outcomeOf, putBack } from "./outcome.ts";
import type { SendResult } from "./send.ts";
import type { WebhookDirectory } from "./webhook-directory.ts";

/**
 * Takes deliveries off the durable queue and sends them, on any number of nodes.
 *
 * Webhooks are independent: each has a limit of attempts in flight, which grows with successes and shrinks with
 * failures, and they take turns, so a webhook that hangs does not delay others. If a node dies, its claimed deliveries
 * are due again when the claim expires.
 */
export type Deliverer = {
  start(): void;
  /** Reports that something is due for these webhooks. Without it, the next poll of the queue finds out. */
  due(webhookIds: Iterable<number>): void;
  /** Attempts in flight. */
  inFlight(): number;
  /** Bytes of claimed deliveries that have not started. */
  aheadBytes(): number;
  limits(): { inFlight: SharedLimit; aheadBytes: SharedLimit };
  /** Resolves when nothing is in flight and nothing is due; for tests. */
  idle(): Promise<void>;
  /** Aborts attempts in flight: their deliveries are due again immediately, and the attempts do not count. */
  stop(): Promise<void>;
};

export type DelivererDeps = AttemptDeps & {
  queue: DeliveryQueue;
  webhooks: Pick<WebhookStore, "noteFailure" | "noteSuccess" | "disable">;
  directory: Pick<WebhookDirectory, "get" | "refresh">;
  backlog: Pick<Backlog, "finished">;
  metrics: Pick<DeliveryMetrics, "disabled">;
  logger: Logger;
};

export function createDeliverer(deps: DelivererDeps): Deliverer {
  return new QueueDeliverer(deps);
}

class QueueDeliverer implements Deliverer {
  readonly #deps: DelivererDeps;
  readonly #attempt: Attempt;
  readonly #stopping = new AbortController();
  /** In the order of turns: the latest served are last. */
  readonly #endpoints = new Map<number, Endpoint>();
  readonly #due = new Set<number>();
  readonly #inFlight = new FairShare(deliveryLimits.webhookInFlight);
  /** How often a webhook had no room for deliveries ahead of time. */
  readonly #aheadReached = { waited: 0 };
  /** All slots are in use: the next turn decides what begins, so that each webhook gets its share. */
  #isCrowded = false;
  #finished: DeliveryOutcome[] = [];
  #polledAtMs = Number.NEGATIVE_INFINITY;
  #turnedAtMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;
  #wake = (): void => undefined;
  #isWoken = false;
  #whenIdle: Array<() => void> = [];

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
    this.#attempt = createAttempt(deps);
  }

  start(): void {
    this.#running = this.#loop();
  }

  due(webhookIds: Iterable<number>): void {
    for (const id of webhookIds) this.#due.add(id);
    this.#wakeUp();
  }

  inFlight(): number {
    return this.#inFlight.inUse;
  }

  aheadBytes(): number {
    return this.#ahead().inUse;
  }

  limits(): { inFlight: SharedLimit; aheadBytes: SharedLimit } {
    const readAhead = () => this.aheadBytes();
    const aheadBytes: SharedLimit = {
      get inUse() {
        return readAhead();
      },
      max: deliveryLimits.webhookAheadBytes,
      reached: this.#aheadReached,
    };
    return { inFlight: this.#inFlight, aheadBytes };
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
    while (this.#inFlight.inUse > 0) await new Promise((resolve) => setImmediate(resolve));
    const nowMs = this.#deps.now();
    const waiting = [...this.#endpoints.values()].flatMap((endpoint) => endpoint.drop());
    this.#finished.push(...waiting.map((delivery) => putBack(delivery, nowMs)));
    await this.#turnQueue([]).catch(() => undefined);
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopping;
    let wasFailing = false;
    while (!signal.aborted) {
      this.#isWoken = false;
      this.#turnedAtMs = performance.now();
      try {
        await this.#poll();
        await this.#turn();
        wasFailing = false;
      } catch (error) {
        if (!wasFailing) this.#deps.logger.error({ err: error }, "the queue of webhooks cannot be read or written");
        wasFailing = true;
      }
      this.#notifyIdle();
      await this.#backOff(wasFailing);
    }
  }

  async #poll(): Promise<void> {
    const { queue, directory, now } = this.#deps;
    const nowMs = now();
    if (nowMs - this.#polledAtMs < deliveryLimits.webhookPollEveryMs) return;
    const at = new Date(nowMs).toISOString();
    for (const { webhook_id: id, next_attempt_at } of await queue.queues()) {
      if (directory.get(id) === undefined) await this.#abandon(id);
      else if (next_attempt_at <= at) this.#due.add(id);
    }
    this.#polledAtMs = nowMs;
  }

  /**
   * Works in portions, because the control store may run on this thread. Keeps the queue of a webhook that another node
   * just enabled.
   */
  async #abandon(webhookId: number): Promise<void> {
    const { queue, backlog } = this.#deps;
    const portion: number = deliveryLimits.webhookPurgeRows;
    for (let ended = portion; ended === portion && !this.#stopping.signal.aborted;) {
      const sizes = await queue.abandon(webhookId, portion);
      for (const bytes of sizes) backlog.finished(webhookId, bytes);
      ended = sizes.length;
      if (ended === portion) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #turn(): Promise<void> {
    this.#isCrowded = false;
    const claims = this.#claims();
    for (const { webhookId } of claims) this.#due.delete(webhookId);
    const claimed = await this.#turnQueue(claims);
    for (const { webhookId, limit, until } of claims) {
      const deliveries = claimed.get(webhookId) ?? [];
      this.#endpoint(webhookId).claimed(deliveries, Date.parse(until));
      // There may be more: it queues behind the others.
      if (deliveries.length === limit) this.#due.add(webhookId);
    }
    for (const endpoint of Array.from(this.#endpoints.values())) {
      if (endpoint.waiting === 0) continue;
      this.#endpoints.delete(endpoint.webhookId);
      this.#endpoints.set(endpoint.webhookId, endpoint);
      this.#advance(endpoint);
    }
  }

  /** Outcomes that cannot be written are retained for the next turn, while their claims last. */
  async #turnQueue(claims: readonly QueueClaim[]): Promise<ReadonlyMap<number, Delivery[]>> {
    const outcomes = this.#finished;
    this.#finished = [];
    try {
      return await this.#deps.queue.turn(outcomes, claims);
    } catch (error) {
      this.#finished.unshift(...outcomes);
      for (const { webhookId } of claims) this.#due.add(webhookId);
      throw error;
    }
  }

  #claims(): QueueClaim[] {
    const { directory, now } = this.#deps;
    const nowMs = now();
    const times = {
      now: new Date(nowMs).toISOString(),
      until: new Date(nowMs + deliveryLimits.webhookClaimMs).toISOString(),
    };
    const claims: QueueClaim[] = [];
    const claimed = new FairShare(deliveryLimits.webhookInFlight - this.#inFlight.inUse);
    const ahead = this.#ahead();
    for (const webhookId of this.#due) {
      if (this.#stopping.signal.aborted) break;
      const webhook = directory.get(webhookId);
      if (webhook === undefined) {
        this.#due.delete(webhookId);
        continue;
      }
      const party = webhook.unique_organization_id;
      const room = Math.min(this.#inFlight.available(party), claimed.available(party));
      if (room === 0) {
        this.#inFlight.note("waited");
        continue;
      }
      const endpoint = this.#endpoint(webhookId);
      const free = Math.min(room, endpoint.free);
      const limit = endpoint.wanted(free, ahead.available(party));
      if (limit < endpoint.wanted(free, deliveryLimits.webhookAheadBytes)) this.#aheadReached.waited += 1;
      if (limit === 0) continue;
      claims.push({ webhookId, limit, ...times });
      claimed.acquire(party, free);
      ahead.acquire(party, (limit - free) * endpoint.largestBytes);
    }
    return claims;
  }

  /** The bytes of claimed deliveries that wait here, by organization. */
  #ahead(): FairShare {
    const ahead = new FairShare(deliveryLimits.webhookAheadBytes);
    for (const { webhookId, waitingBytes } of this.#endpoints.values()) {
      if (waitingBytes > 0)
        ahead.acquire(this.#deps.directory.get(webhookId)?.unique_organization_id ?? "", waitingBytes);
    }
    return ahead;
  }

  /** Begins as many claimed deliveries as the limits allow. */
  #advance(endpoint: Endpoint): void {
    const { directory, now } = this.#deps;
    const webhook = directory.get(endpoint.webhookId);
    // Disabled meanwhile: the next poll ends its queue.
    if (webhook === undefined) endpoint.drop();
    while (webhook !== undefined && !this.#stopping.signal.aborted) {
      if (this.#inFlight.available(webhook.unique_organization_id) === 0) {
        this.#isCrowded = true;
        this.#inFlight.note("waited");
        return;
      }
      const delivery = endpoint.next(now());
      if (delivery === undefined) return;
      this.#begin(webhook, endpoint, delivery);
    }
  }

  #begin(webhook: Webhook, endpoint: Endpoint, delivery: Delivery): void {
    endpoint.inFlight += 1;
    this.#inFlight.acquire(webhook.unique_organization_id, 1);
    void this.#deliver(webhook, endpoint, delivery).finally(() => {
      endpoint.inFlight -= 1;
      this.#inFlight.release(webhook.unique_organization_id, 1);
      if (!this.#isCrowded) this.#advance(endpoint);
      this.#wakeUp();
    });
  }

  /** Never rejects. */
  async #deliver(webhook: Webhook, endpoint: Endpoint, delivery: Delivery): Promise<void> {
    const { signal } = this.#stopping;
    try {
      const result = await this.#attempt(webhook, delivery, signal);
      const nowMs = this.#deps.now();
      if (signal.aborted && !result.isDelivered) {
        this.#finished.push(putBack(delivery, nowMs));
        return;
      }
      const outcome = outcomeOf(delivery, result, nowMs);
      this.#finished.push(outcome);
      if (outcome.status !== "pending") this.#deps.backlog.finished(webhook.id, delivery.payload.length);
      // What the directory has read may be from before a failure.
      const wasFailing = endpoint.isFailing || webhook.failing_since !== null;
      if (result.isDelivered) endpoint.succeeded();
      else endpoint.failed();
      if (result.isDelivered && wasFailing) await this.#deps.webhooks.noteSuccess(webhook.id);
      if (!result.isDelivered) await this.#judge(webhook, result);
    } catch (error) {
      this.#deps.logger.error({ err: error, webhook: webhook.id }, "the outcome of a delivery could not be stored");
    }
  }

  /** Disables a webhook that responded 410 Gone, or that has failed for days. */
  async #judge(webhook: Webhook, { status, error }: SendResult): Promise<void> {
    const { webhooks, directory, metrics, logger, now } = this.#deps;
    const nowMs = now();
    const at = new Date(nowMs).toISOString();
    const since = webhook.failing_since ?? (await webhooks.noteFailure(webhook.id, at));
    const failingMs = since === undefined ? 0 : nowMs - Date.parse(since);
    const isRemoved = status === 410;
    if (!isRemoved && failingMs < deliveryLimits.webhookDisableAfterMs) return;
    const reason = isRemoved
      ? "The receiver answered 410 Gone."
      : `No delivery has succeeded since ${since}. The last error: ${error ?? "unknown"}.`;
    // If it was changed meanwhile, this attempt says nothing of it any more; the next one does.
    if (await webhooks.disable(webhook, reason, at)) {
      metrics.disabled.inc();
      logger.warn({ webhook: webhook.id, failingMs }, "a webhook was switched off");
    }
    await directory.refresh();
  }

  #endpoint(id: number): Endpoint {
    const known = this.#endpoints.get(id);
    if (known !== undefined) return known;
    if (this.#endpoints.size >= deliveryLimits.webhookInFlight * 4) {
      for (const [key, { inFlight, waiting }] of this.#endpoints) {
        if (inFlight + waiting === 0) this.#endpoints.delete(key);
      }
    }
    const endpoint = new Endpoint(id);
    this.#endpoints.set(id, endpoint);
    return endpoint;
  }

  #notifyIdle(): void {
    if (this.#inFlight.inUse + this.#finished.length + this.#due.size > 0) return;
    for (const { waiting } of this.#endpoints.values()) if (waiting > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #wakeUp(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Waits for an event or the next poll of the queue. Under load turns are paced, so that each does much. */
  async #backOff(isFailing: boolean): Promise<void> {
    const pause = (ms: number) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    if (!this.#isWoken && !isFailing) await pause(deliveryLimits.webhookPollEveryMs);
    this.#wake = () => undefined;
    if (this.#stopping.signal.aborted) return;
    const paceMs = this.#inFlight.inUse === 0 ? 0 : this.#turnedAtMs + deliveryLimits.webhookPaceMs - performance.now();
    await new Promise((resolve) =>
      setTimeout(resolve, isFailing ? deliveryLimits.webhookPollEveryMs : Math.max(0, paceMs)),
    );
  }
}
