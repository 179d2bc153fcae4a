import { lockStopped } from "../journal/node-lock.ts";
import { openSpanStore, type SpansLocation } from "./clickhouse-span-store.ts";
import type { SpanStore } from "./span-store.ts";

/**
 * Opens the span store and migrates it, then closes it after use. Holds the lock of the node's data folder meanwhile if
 * the store is in it.
 * @throws ServiceError `conflict` if a server is running on that folder
 */
export function createWithSpans(config: { dataDir: string; spans: SpansLocation }) {
  return async <T>(use: (spans: SpanStore) => Promise<T>): Promise<T> => {
    const lock = config.spans.kind === "chdb" ? lockStopped(config.dataDir) : undefined;
    try {
      const spans = openSpanStore(config.spans);
      try {
        await spans.migrate();
        return await use(spans);
      } finally {
        await spans.close();
      }
    } finally {
      lock?.release();
    }
  };
}
