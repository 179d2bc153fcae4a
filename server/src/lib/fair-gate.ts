import { FairShare, type SharedLimit } from "./fair-share.ts";

/** Work was refused: too much is queued already (`full`), or it waited too long (`late`). */
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
  /** Maximum in flight per party. */
  maxEach?: number;
  /** A party gets a fair share of these places in the queue; see `FairShare`. */
  maxWaiting: number;
  maxWaitMs?: number;
  /**
   * Places in flight are shared fairly too, so that some stay free for the next party: set it if work may take long.
   */
  sharesSlots?: boolean;
};

type Waiter = { enter: () => void };

/**
 * Limits how many pieces of work run concurrently. The others wait in order, one queue per party, served round-robin: a
 * party that sends a thousand requests delays another's first request by one.
 */
export class FairGate {
  readonly #bounds: FairGateBounds;
  /** The party that is served next comes first. */
  readonly #queues = new Map<string, Waiter[]>();
  readonly #waiting: FairShare;
  readonly #inFlight: FairShare;

  constructor(bounds: FairGateBounds) {
    this.#bounds = bounds;
    this.#waiting = new FairShare(bounds.maxWaiting);
    this.#inFlight = new FairShare(bounds.maxInFlight);
  }

  get waiting(): number {
    return this.#waiting.inUse;
  }

  get places(): SharedLimit {
    return this.#inFlight;
  }

  get queue(): SharedLimit {
    return this.#waiting;
  }

  /** Runs `work` once it has a place. Throws `GateRefusal`, or the signal's reason if it is aborted before. */
  async run<T>(party: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    if (!this.#enter(party)) await this.#wait(party, signal);
    try {
      return await work();
    } finally {
      this.#inFlight.release(party, 1);
      while (this.#advance());
    }
  }

  #enter(party: string): boolean {
    if (this.#inFlight.usedBy(party) >= (this.#bounds.maxEach ?? Infinity)) return false;
    const { sharesSlots = false, maxInFlight } = this.#bounds;
    if (sharesSlots ? this.#inFlight.available(party) === 0 : this.#inFlight.inUse >= maxInFlight) return false;
    this.#inFlight.acquire(party, 1);
    return true;
  }

  #wait(party: string, signal: AbortSignal | undefined): Promise<void> {
    const { maxWaitMs } = this.#bounds;
    signal?.throwIfAborted();
    if (!this.#waiting.tryAcquire(party, 1)) throw new GateRefusal("full");
    this.#inFlight.note("waited");
    const queue = this.#queues.get(party) ?? [];
    this.#queues.set(party, queue);
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        this.#waiting.release(party, 1);
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
      const onLate = (): void => {
        this.#waiting.note("late");
        leave(new GateRefusal("late"));
      };
      const timer = maxWaitMs === undefined ? undefined : setTimeout(onLate, maxWaitMs);
      signal?.addEventListener("abort", onAbort);
      queue.push(waiter);
    });
  }

  /** Gives a free place to the next party that may have it. Returns false if there is no place or no such party. */
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
