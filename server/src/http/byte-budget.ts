/** Bounds the bytes of all request bodies that are in memory at one time. */
export class ByteBudget {
  readonly #maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** False, and nothing taken, when the bytes do not fit. */
  take(bytes: number): boolean {
    if (this.#usedBytes + bytes > this.#maxBytes) return false;
    this.#usedBytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}
