import { FairShare } from "./fair-share.ts";

/** Why work was not let in: too much of it waits already, or it waited for too long. */
export class GateRefusal extends Error {
  readonly reason: "full" | "late";

  constructor(reason: GateRefusal["reason"]) {
    super(reason === "full" ? "too many wait" : "waited for too long");
    this.name = "GateRefusal";
    this.reason = reason;
  }
}

export type FairGateBounds = {
  maxInFlight: number;
  /** Of one party. */
  maxEach?: number;
  /** A party gets a fair share of these places, see `FairShare`. */
  maxWaiting: number;
  maxWaitMs?: number;
  /** Places in flight are shared too, so that some stay free for the next party: where work may be long. */
  keepsPlaces?: boolean;
};

type Waiter = { enter: () => void };

/**
 * Lets so many pieces of work run at once. The others wait in the order of their calls, each party's in a queue of its
 * own, and the queues take turns: a party that asks a thousand times delays another's first question by one.
 */
export class FairGate {
  readonly #bounds: FairGateBounds;
  /** The party whose turn is next comes first. */
  readonly #queues = new Map<string, Waiter[]>();
  readonly #waiting: FairShare;
  readonly #inFlight: FairShare;

  constructor(bounds: FairGateBounds) {
    this.#bounds = bounds;
    this.#waiting = new FairShare(bounds.maxWaiting);
    this.#inFlight = new FairShare(bounds.maxInFlight);
  }

  get waiting(): number {
    return this.#waiting.held;
  }

  /** Runs `work` when its turn comes. Throws `GateRefusal`, or the signal's reason when it is aborted before. */
  async run<T>(party: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    if (!this.#enter(party)) await this.#wait(party, signal);
    try {
      return await work();
    } finally {
      this.#inFlight.giveBack(party, 1);
      while (this.#advance());
    }
  }

  #enter(party: string): boolean {
    if (this.#inFlight.of(party) >= (this.#bounds.maxEach ?? Infinity)) return false;
    if (this.#bounds.keepsPlaces) return this.#inFlight.take(party, 1);
    if (this.#inFlight.held >= this.#bounds.maxInFlight) return false;
    this.#inFlight.add(party, 1);
    return true;
  }

  #wait(party: string, signal: AbortSignal | undefined): Promise<void> {
    const { maxWaitMs } = this.#bounds;
    signal?.throwIfAborted();
    if (!this.#waiting.take(party, 1)) throw new GateRefusal("full");
    const queue = this.#queues.get(party) ?? [];
    this.#queues.set(party, queue);
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        this.#waiting.giveBack(party, 1);
      };
      const waiter: Waiter = {
        enter: () => {
          settle();
          resolve();
        },
      };
      const leave = (reason: unknown): void => {
        settle();
        queue.splice(queue.indexOf(waiter), 1);
        if (queue.length === 0) this.#queues.delete(party);
        reject(reason);
      };
      const onAbort = (): void => leave(signal?.reason);
      const timer = maxWaitMs === undefined ? undefined : setTimeout(() => leave(new GateRefusal("late")), maxWaitMs);
      signal?.addEventListener("abort", onAbort);
      queue.push(waiter);
    });
  }

  /** Hands a free place to the next in turn that may have it. False where there is none, of either. */
  #advance(): boolean {
    for (const [party, queue] of this.#queues) {
      if (!this.#enter(party)) continue;
      const waiter = queue.shift();
      this.#queues.delete(party);
      if (queue.length > 0) this.#queues.set(party, queue);
      waiter?.enter();
      return true;
    }
    return false;
  }
}
