/**
 * Gathers what comes in one turn of the event loop and hands it over together at its end. Work of one kind done in a row finds its code
 * and its data in the processor's caches, where works of several kinds in turns push each other out.
 */
export class TurnQueue<T> {
  readonly #take: (items: readonly T[]) => void;
  #items: T[] = [];

  constructor(take: (items: readonly T[]) => void) {
    this.#take = take;
  }

  get size(): number {
    return this.#items.length;
  }

  /** @param isAlone nothing else is under way that could come in this turn: it is handed over at once. */
  add(item: T, isAlone = false): void {
    if (isAlone && this.#items.length === 0) {
      this.#take([item]);
      return;
    }
    this.#items.push(item);
    if (this.#items.length === 1) setImmediate(this.flush);
  }

  /** Hands over what is there, now. */
  readonly flush = (): void => {
    const items = this.#items;
    if (items.length === 0) return;
    this.#items = [];
    this.#take(items);
  };
}
