import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Adopt } from "../ingest/writer/adopt.ts";
import type { Journal } from "../storage/journal/journal.ts";
import type { PendingLogRecords } from "../storage/journal/pending-log-records.ts";
import { openAbandonedNodeData } from "../storage/journal/abandoned-node-data.ts";
import { scheduleJob, type Schedule } from "./schedule.ts";

/** How often a node looks for journals that `admin -- journal adopt` has assigned to it. */
const everyMs = 1_000;

/**
 * Adopts spans that were accepted by nodes that never come back. After a crash, the next start of the node itself
 * replays its journal.
 */
export function startAdoption(deps: {
  /** The command puts one folder per such node here. */
  path: string;
  adopt: Adopt;
  journal: Pick<Journal, "quarantine">;
  events: Pick<PendingLogRecords, "add">;
  logger: Logger;
}): Schedule {
  const { path, adopt, journal, events, logger } = deps;
  return scheduleJob({ name: "adopt journals", everyMs, logger }, async (signal) => {
    const names = existsSync(path) ? readdirSync(path).filter((name) => !name.endsWith(".part")) : [];
    for (const name of names) {
      const abandoned = openAbandonedNodeData(join(path, name));
      try {
        for (const record of abandoned.calls()) {
          signal.throwIfAborted();
          await adopt.call(record);
        }
        for (const { payload, acknowledge } of abandoned.entries()) {
          signal.throwIfAborted();
          await adopt.rows(payload);
          await acknowledge();
        }
        for (const { payload, reason, acknowledge } of abandoned.quarantined()) {
          await journal.quarantine(payload, reason);
          await acknowledge();
        }
        for (const { key, text, acknowledge } of abandoned.logRecords()) {
          await events.add([{ key, text }]);
          await acknowledge();
        }
      } finally {
        await abandoned.close();
      }
      abandoned.remove();
      logger.info({ node: name }, "took over the journal of another node");
    }
  });
}
