/**
 * Collects the items of one turn of the event loop and passes them on together at its end. Consecutive work of one kind
 * finds its code and data in the processor's caches, whereas alternating kinds of work evict each other's.
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

  /**
   * @param isAlone no other work is in progress that could add items in this turn: the item is passed on immediately.
   */
  add(item: T, isAlone = false): void {
    if (isAlone && this.#items.length === 0) {
      this.#take([item]);
      return;
    }
    this.#items.push(item);
    if (this.#items.length === 1) setImmediate(this.flush);
  }

  /** Passes on the collected items now. */
  readonly flush = (): void => {
    const items = this.#items;
    if (items.length === 0) return;
    this.#items = [];
    this.#take(items);
  };
}
