import type { Delivery } from "../domain/webhook.ts";
import { deliveryLimits } from "./limits.ts";

type Waiting = { delivery: Delivery; untilMs: number };

/**
 * What this node has of one webhook: how much is under way, how much may be, and what was claimed ahead. Few at a time go to a
 * webhook that is new or fails; one that takes all it is given has its next ones at hand.
 */
export class Endpoint {
  readonly webhookId: number;
  inFlight = 0;
  waitingBytes = 0;
  /** Of what was claimed last: the next ones will hardly be larger. */
  largestBytes = 1;
  #slots: number = deliveryLimits.webhookInFlightFirst;
  #waiting: Waiting[] = [];

  constructor(webhookId: number) {
    this.webhookId = webhookId;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** How many more could begin at once. */
  get free(): number {
    return Math.max(0, this.#slots - this.inFlight - this.waiting);
  }

  /**
   * How many to claim where so many may begin, and where those that wait may take so many bytes. Few would cost a statement
   * each, so that space gathers first.
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

  /** What may begin now; not what would still be under way when its claim has ended, which is due again then. */
  next(nowMs: number): Delivery | undefined {
    while (this.inFlight < this.#slots) {
      const first = this.#waiting.shift();
      if (first === undefined) return undefined;
      this.waitingBytes -= first.delivery.payload.length;
      if (nowMs + deliveryLimits.webhookTimeoutMs <= first.untilMs) return first.delivery;
    }
    return undefined;
  }

  /** Takes out what waits. */
  drop(): Delivery[] {
    const dropped = this.#waiting.map(({ delivery }) => delivery);
    this.#waiting = [];
    this.waitingBytes = 0;
    return dropped;
  }

  succeeded(): void {
    this.#slots = Math.min(deliveryLimits.webhookInFlightEach, this.#slots + 1);
  }

  failed(): void {
    this.#slots = Math.max(deliveryLimits.webhookInFlightFailing, this.#slots >> 1);
  }
}
