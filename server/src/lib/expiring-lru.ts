type Entry<K, V> = {
  key: K;
  value: V;
  expiresAtMs: number;
  older: Entry<K, V> | undefined;
  newer: Entry<K, V> | undefined;
};

/**
 * A map that drops entries older than `ttlMs` and, if it has more than `maxEntries`, the least recently used one.
 * Entries are linked in order of use. The order of a `Map` would not do: to find its first entry, the engine steps over
 * all entries deleted since it last rebuilt the map, which may be as many as there are entries.
 */
export class ExpiringLru<K, V> {
  readonly #entries = new Map<K, Entry<K, V>>();
  #oldest: Entry<K, V> | undefined;
  #newest: Entry<K, V> | undefined;
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
      this.delete(key);
      return undefined;
    }
    if (entry !== this.#newest) {
      this.#unlink(entry);
      this.#append(entry);
    }
    return entry.value;
  }

  /**
   * The entry's age counts from here, not from its last use. @param ttlMs may shorten the time to live, not extend it.
   */
  set(key: K, value: V, ttlMs = this.#ttlMs): void {
    this.delete(key);
    if (this.#oldest !== undefined && this.#entries.size >= this.#maxEntries) this.delete(this.#oldest.key);
    const expiresAtMs = this.#nowMs() + Math.min(ttlMs, this.#ttlMs);
    const entry = { key, value, expiresAtMs, older: undefined, newer: undefined };
    this.#entries.set(key, entry);
    this.#append(entry);
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#unlink(entry);
  }

  #append(entry: Entry<K, V>): void {
    entry.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink(entry: Entry<K, V>): void {
    const { older, newer } = entry;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    entry.older = undefined;
    entry.newer = undefined;
  }
}
