import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { domainLimits } from "../domain/limits.ts";
import { NewerTables } from "../storage/newer-tables.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";

export type SpanMigration = {
  /** Inserts into it are rejected until the tables exist. */
  store: Pick<SpanStore, "insert">;
  isDone(): boolean;
};

/**
 * Brings the span tables up to date. If the store runs in the process, a failure fails the start. A store behind a URL
 * may be temporarily down: the node starts anyway, journals accepted spans, and retries until the migration succeeds.
 */
export async function migrateSpans({
  spans,
  isRemote,
  logger,
  signal,
}: {
  spans: Pick<SpanStore, "migrate" | "insert">;
  isRemote: boolean;
  logger: Logger;
  signal: AbortSignal;
}): Promise<SpanMigration> {
  let isDone = false;
  const attempt = async (): Promise<void> => {
    await spans.migrate();
    isDone = true;
  };
  let isLogged = false;
  const logUnusable = (error: unknown): void => {
    if (error instanceof NewerTables && !isLogged) logger.error({ err: error }, "spans stay in the journal");
    isLogged ||= error instanceof NewerTables;
  };
  const keepTrying = async (): Promise<void> => {
    while (!isDone && !signal.aborted) {
      await sleep(domainLimits.writerRetryMaxMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) await attempt().catch(logUnusable);
    }
    if (isDone) logger.info("the span store answers; its tables are up to date");
  };
  try {
    await attempt();
    return { isDone: () => true, store: spans };
  } catch (error) {
    if (!isRemote || error instanceof NewerTables) throw error;
    logger.error({ err: error }, "the span store does not answer; spans stay in the journal until it does");
    void keepTrying();
  }
  return {
    isDone: () => isDone,
    store: {
      insert(batch, insertSignal) {
        if (!isDone) return Promise.reject(new Error("the tables of the span store are not there yet"));
        return spans.insert(batch, insertSignal);
      },
    },
  };
}
