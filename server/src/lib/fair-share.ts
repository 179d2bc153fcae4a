/** A party may acquire more while it uses at most this many times the free amount. */
const timesFree = 4;

/** How someone who reached a limit was treated; `late`: refused after a wait. */
export type LimitOutcome = "waited" | "refused" | "late";

/** What is in use of a shared limit, and how often someone has reached it. */
export type SharedLimit = {
  readonly inUse: number;
  readonly max: number;
  readonly reached: Readonly<Partial<Record<LimitOutcome, number>>>;
};

/** Exposes shared limits as metrics, each by its name in a `limits.ts`. */
export type WatchLimits = (limits: Readonly<Record<string, SharedLimit>>) => void;

/**
 * Divides a bounded amount (bytes, places) between an unknown number of parties: each may acquire more while it uses
 * at most four times the free amount. A single party gets four fifths; `n` parties that want everything get equal parts
 * and leave about a quarter of such a part free; a party that uses nothing is usually admitted immediately. ("Dynamic
 * thresholds": Choudhury and Hahne, IEEE/ACM Transactions on Networking 6, 1998, for the shared memory of switches.)
 */
export class FairShare implements SharedLimit {
  readonly max: number;
  readonly reached: Partial<Record<LimitOutcome, number>> = {};
  readonly #used = new Map<string, number>();
  #total = 0;

  constructor(max: number) {
    this.max = max;
  }

  /** Of all parties. */
  get inUse(): number {
    return this.#total;
  }

  /**
   * Returns false, acquires nothing and counts a refusal, if the amount does not fit. @param max a smaller bound for this kind of amount
   */
  tryAcquire(party: string, amount: number, max = this.max): boolean {
    const freeAfter = max - this.#total - amount;
    if (this.usedBy(party) > timesFree * freeAfter) {
      this.note("refused");
      return false;
    }
    this.acquire(party, amount);
    return true;
  }

  usedBy(party: string): number {
    return this.#used.get(party) ?? 0;
  }

  /** How many units the party could acquire now, one after the other. @param max a smaller bound */
  available(party: string, max = this.max): number {
    const free = max - this.#total;
    // Each unit adds one to the party's amount and removes one from the free amount; the bound applies before each
    // unit.
    const most = Math.floor((timesFree * (free - 1) - this.usedBy(party)) / (timesFree + 1)) + 1;
    return Math.max(0, Math.min(free, most));
  }

  /** Counts that someone reached the limit. */
  note(outcome: LimitOutcome): void {
    this.reached[outcome] = (this.reached[outcome] ?? 0) + 1;
  }

  /** Without any check: may exceed the bound. */
  acquire(party: string, amount: number): void {
    this.#total += amount;
    this.#used.set(party, this.usedBy(party) + amount);
  }

  release(party: string, amount: number): void {
    this.#total -= amount;
    const left = this.usedBy(party) - amount;
    if (left > 0) this.#used.set(party, left);
    else this.#used.delete(party);
  }
}
