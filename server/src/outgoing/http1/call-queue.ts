import type { Call } from "./call.ts";

/**
 * Calls that wait, in order of their arrival. An array, as a `Set` that calls come into and leave all the time is expensive: V8
 * makes it a new table every few calls, and each one that it left behind keeps the next alive, with all the calls in it,
 * until the whole heap is collected.
 */
export class CallQueue {
  #calls: Array<Call | undefined> = [];
  #first = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(call: Call): void {
    call.queue = this;
    this.#calls.push(call);
    this.#size += 1;
  }

  take(): Call | undefined {
    while (this.#first < this.#calls.length) {
      const call = this.#calls[this.#first];
      this.#calls[this.#first] = undefined;
      this.#first += 1;
      if (call?.queue !== this) continue;
      this.#leave(call);
      return call;
    }
    return undefined;
  }

  /** Takes it out, wherever it stands. */
  remove(call: Call): void {
    if (call.queue === this) this.#leave(call);
  }

  #leave(call: Call): void {
    call.queue = undefined;
    this.#size -= 1;
    // Places that were left cost nothing until they are the most.
    if (this.#size === 0) this.#calls.length = 0;
    else if (this.#calls.length > 2 * this.#size + spare)
      this.#calls = this.#calls.filter((each) => each?.queue === this);
    else return;
    this.#first = 0;
  }
}

const spare = 64;
