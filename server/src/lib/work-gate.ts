/** Lets `maxInFlight` pieces of work run at once and `maxQueued` wait. */
export class WorkGate {
  readonly #maxInFlight: number;
  readonly #maxQueued: number;
  readonly #waiting: (() => void)[] = [];
  #inFlight = 0;

  constructor(options: { maxInFlight: number; maxQueued: number }) {
    this.#maxInFlight = options.maxInFlight;
    this.#maxQueued = options.maxQueued;
  }

  /** Runs `work` when its turn comes, in the order of the calls; undefined, at once, when the queue is full. */
  run<T>(work: () => Promise<T>): Promise<T> | undefined {
    if (this.#inFlight >= this.#maxInFlight && this.#waiting.length >= this.#maxQueued) return undefined;
    return this.#take()
      .then(work)
      .finally(() => this.#release());
  }

  #take(): Promise<void> {
    if (this.#inFlight < this.#maxInFlight) {
      this.#inFlight += 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Hands the place to the next in line, if any. */
  #release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#inFlight -= 1;
    else next();
  }
}
