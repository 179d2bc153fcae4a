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
  /** Of all parties together, and of each. */
  maxWaiting: number;
  maxWaitingEach: number;
  maxWaitMs: number;
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
  #waiting = 0;
  #inFlight = 0;

  constructor(bounds: FairGateBounds) {
    this.#bounds = bounds;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Runs `work` when its turn comes. Throws `GateRefusal`, or the signal's reason when it is aborted before. */
  async run<T>(party: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#inFlight < this.#bounds.maxInFlight) this.#inFlight += 1;
    else await this.#wait(party, signal);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  #wait(party: string, signal: AbortSignal): Promise<void> {
    const { maxWaiting, maxWaitingEach, maxWaitMs } = this.#bounds;
    const queue = this.#queues.get(party) ?? [];
    if (this.#waiting >= maxWaiting || queue.length >= maxWaitingEach) throw new GateRefusal("full");
    signal.throwIfAborted();
    this.#queues.set(party, queue);
    this.#waiting += 1;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
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
        this.#waiting -= 1;
        if (queue.length === 0) this.#queues.delete(party);
        reject(reason);
      };
      const onAbort = (): void => leave(signal.reason);
      const timer = setTimeout(() => leave(new GateRefusal("late")), maxWaitMs);
      signal.addEventListener("abort", onAbort);
      queue.push(waiter);
    });
  }

  /** Hands the place to the next in turn, if any. */
  #release(): void {
    const [next] = this.#queues;
    if (next === undefined) {
      this.#inFlight -= 1;
      return;
    }
    const [party, queue] = next;
    const waiter = queue.shift();
    this.#waiting -= 1;
    this.#queues.delete(party);
    if (queue.length > 0) this.#queues.set(party, queue);
    waiter?.enter();
  }
}
