import { gatewayLimits } from "../limits.ts";
import type { AnswerStore, CachedAnswer } from "./answer-store.ts";

export type MemoryStore = AnswerStore & { size(): { entries: number; bytes: number } };

/** Approximate memory of an entry beside its body. */
const overheadBytes = 512;

/** Answers in the memory of this process. When it is full, the least recently used ones are dropped. */
export function createMemoryStore({ now, onEviction }: { now: () => number; onEviction: () => void }): MemoryStore {
  const entries = new Map<string, { answer: CachedAnswer; expiresAtMs: number }>();
  let bytes = 0;

  const drop = (key: string): void => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    bytes -= sizeOf(entry.answer);
  };
  const live = (key: string): CachedAnswer | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAtMs > now()) return entry.answer;
    drop(key);
    return undefined;
  };

  return {
    find: (keys, sinceMs) => {
      for (const key of keys) {
        const answer = live(key);
        const entry = entries.get(key);
        if (answer === undefined || entry === undefined || answer.keptAtMs < sinceMs) continue;
        entries.delete(key);
        entries.set(key, entry);
        return Promise.resolve({ key, answer });
      }
      return Promise.resolve(undefined);
    },
    keep(key, { body, ...rest }, ttlMs) {
      drop(key);
      // Copies the body, as it may be a small slice of a large buffer.
      const answer = { ...rest, body: Buffer.allocUnsafeSlow(body.length) };
      body.copy(answer.body);
      entries.set(key, { answer, expiresAtMs: now() + ttlMs });
      bytes += sizeOf(answer);
      for (const oldest of entries.keys()) {
        if (entries.size <= gatewayLimits.cacheMemoryEntries && bytes <= gatewayLimits.cacheMemoryBytes) return;
        drop(oldest);
        onEviction();
      }
    },
    size: () => ({ entries: entries.size, bytes }),
  };
}

function sizeOf({ body }: CachedAnswer): number {
  return body.byteLength + overheadBytes;
}
