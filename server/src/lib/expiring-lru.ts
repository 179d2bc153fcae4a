/** A map that forgets: entries older than `ttlMs`, and the least recently used one where there are more than `maxEntries`. */
export class ExpiringLru<K, V> {
  readonly #entries = new Map<K, { value: V; expiresAtMs: number }>();
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
    this.#entries.delete(key);
    if (entry.expiresAtMs <= this.#nowMs()) return undefined;
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** The entry's age counts from here, not from its last use. @param ttlMs shortens, never lengthens. */
  set(key: K, value: V, ttlMs = this.#ttlMs): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expiresAtMs: this.#nowMs() + Math.min(ttlMs, this.#ttlMs) });
    if (this.#entries.size <= this.#maxEntries) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      break;
    }
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }
}
