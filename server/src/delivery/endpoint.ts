import type { Delivery } from "../domain/webhook.ts";
import { deliveryLimits } from "./limits.ts";

type Waiting = { delivery: Delivery; untilMs: number };

/**
 * The state of one webhook on this node: how many attempts are in flight, how many may be, and what was claimed ahead.
 * A webhook that is new or fails gets few at a time. For one that takes everything, the next deliveries are claimed
 * ahead.
 */
export class Endpoint {
  readonly webhookId: number;
  inFlight = 0;
  /** Whether an attempt on this node has failed after the last one that succeeded. */
  isFailing = false;
  waitingBytes = 0;
  /** The largest payload of the last claim: the next ones will hardly be larger. */
  largestBytes = 1;
  #slots: number = deliveryLimits.webhookInFlightFirst;
  #waiting: Waiting[] = [];

  constructor(webhookId: number) {
    this.webhookId = webhookId;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** How many more could begin now. */
  get free(): number {
    return Math.max(0, this.#slots - this.inFlight - this.waiting);
  }

  /**
   * How many to claim if `free` may begin, and waiting ones may take `roomBytes`. A small claim would cost a statement
   * of its own, so space accumulates first.
   */
  wanted(free: number, roomBytes: number): number {
    const room = Math.floor(roomBytes / this.largestBytes);
    const ahead =
      this.#slots === deliveryLimits.webhookInFlightEach
        ? Math.min(deliveryLimits.webhookAhead - this.waiting, room)
        : 0;
    if (ahead * 2 >= deliveryLimits.webhookAhead) return free + ahead;
    return free * 2 >= this.#slots || this.inFlight === 0 ? free : 0;
  }

  claimed(deliveries: readonly Delivery[], untilMs: number): void {
    if (deliveries.length > 0) this.largestBytes = Math.max(1, ...deliveries.map(({ payload }) => payload.length));
    for (const delivery of deliveries) {
      this.#waiting.push({ delivery, untilMs });
      this.waitingBytes += delivery.payload.length;
    }
  }

  /**
   * The next delivery that may begin. Skips those that could still be in flight when their claim expires: they are due
   * again then.
   */
  next(nowMs: number): Delivery | undefined {
    while (this.inFlight < this.#slots) {
      const first = this.#waiting.shift();
      if (first === undefined) return undefined;
      this.waitingBytes -= first.delivery.payload.length;
      if (nowMs + deliveryLimits.webhookTimeoutMs <= first.untilMs) return first.delivery;
    }
    return undefined;
  }

  /** Removes and returns the waiting deliveries. */
  drop(): Delivery[] {
    const dropped = this.#waiting.map(({ delivery }) => delivery);
    this.#waiting = [];
    this.waitingBytes = 0;
    return dropped;
  }

  succeeded(): void {
    this.isFailing = false;
    this.#slots = Math.min(deliveryLimits.webhookInFlightEach, this.#slots + 1);
  }

  failed(): void {
    this.isFailing = true;
    this.#slots = Math.max(deliveryLimits.webhookInFlightFailing, this.#slots >> 1);
  }
}
