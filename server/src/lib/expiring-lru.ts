/**
 * A map that forgets: entries older than `ttlMs`, and, where there are more than `maxEntries`, one that was not used of late: the
 * oldest, but that those used since they were last looked at have a second chance. To note a use costs next to nothing, where keeping
 * all of them in the order of their use would cost more than finding them.
 */
export class ExpiringLru<K, V> {
  readonly #entries = new Map<K, { value: V; expiresAtMs: number; isUsed: boolean }>();
  readonly #maxEntries: number;
  readonly #ttlMs: number;
  readonly #nowMs: () => number;

  constructor(options: { maxEntries: number; ttlMs: number; nowMs: () => number }) {
    this.#maxEntries = options.maxEntries;
    this.#ttlMs = options.ttlMs;
    this.#nowMs = options.nowMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAtMs <= this.#nowMs()) {
      this.#entries.delete(key);
      return undefined;
    }
    entry.isUsed = true;
    return entry.value;
  }

  /** The entry's age counts from here, not from its last use. @param ttlMs shortens, never lengthens. */
  set(key: K, value: V, ttlMs = this.#ttlMs): void {
    this.#entries.delete(key);
    if (this.#entries.size >= this.#maxEntries) this.#makeRoom();
    const expiresAtMs = this.#nowMs() + Math.min(ttlMs, this.#ttlMs);
    this.#entries.set(key, { value, expiresAtMs, isUsed: false });
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  #makeRoom(): void {
    let chances = maxChances;
    for (const [key, entry] of this.#entries) {
      this.#entries.delete(key);
      if (!entry.isUsed || chances === 0) return;
      chances -= 1;
      entry.isUsed = false;
      this.#entries.set(key, entry);
    }
  }
}

/** So that no call pays for all entries where all were used. */
const maxChances = 32;
