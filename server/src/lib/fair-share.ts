/** A party may take more while it holds at most so many times what stays free. */
const timesFree = 4;

/**
 * Divides what is bounded (bytes, places) between parties without knowing how many will come: each may take more while it
 * holds at most four times what stays free. One alone gets four fifths, `n` that want all of it get equal parts and leave
 * as good as a quarter of such a part, and whoever holds nothing yet is let in at once. ("Dynamic thresholds": Choudhury and
 * Hahne, IEEE/ACM Transactions on Networking 6, 1998, who divide the memory of switches so.)
 */
export class FairShare {
  readonly #max: number;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** By all parties. */
  get held(): number {
    return this.#total;
  }

  /** @param max less than the whole, where that amount may only have a part. False, and nothing taken, when it does not fit. */
  take(party: string, amount: number, max = this.#max): boolean {
    const freeAfter = max - this.#total - amount;
    return this.of(party) <= timesFree * freeAfter && this.takeWhole(party, amount, max);
  }

  /** The same where only the whole is bounded. */
  takeWhole(party: string, amount: number, max = this.#max): boolean {
    if (this.#total + amount > max) return false;
    this.add(party, amount);
    return true;
  }

  /** By one of them. */
  of(party: string): number {
    return this.#held.get(party) ?? 0;
  }

  /** How many pieces of one the party could take now. */
  room(party: string): number {
    const free = this.#max - this.#total;
    // Each piece adds one to what it holds and leaves one less: as long as what it held is within bounds of what is left.
    const most = Math.floor((timesFree * (free - 1) - this.of(party)) / (timesFree + 1)) + 1;
    return Math.max(0, Math.min(free, most));
  }

  /** Takes what cannot be refused. */
  add(party: string, amount: number): void {
    this.#total += amount;
    this.#held.set(party, this.of(party) + amount);
  }

  giveBack(party: string, amount: number): void {
    this.#total -= amount;
    const left = this.of(party) - amount;
    if (left > 0) this.#held.set(party, left);
    else this.#held.delete(party);
  }
}
