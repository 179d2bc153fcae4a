import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Adopt } from "../ingest/writer/adopt.ts";
import type { Journal } from "../storage/journal/journal.ts";
import type { LogEvents } from "../storage/journal/log-events.ts";
import { openHandedOver } from "../storage/journal/handed-over.ts";
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
  events: Pick<LogEvents, "add">;
  logger: Logger;
}): Schedule {
  const { path, adopt, journal, events, logger } = deps;
  return scheduleJob({ name: "adopt journals", everyMs, logger }, async (signal) => {
    const names = existsSync(path) ? readdirSync(path).filter((name) => !name.endsWith(".part")) : [];
    for (const name of names) {
      const left = openHandedOver(join(path, name));
      try {
        for (const record of left.calls()) {
          signal.throwIfAborted();
          await adopt.call(record);
        }
        for (const { payload, forget } of left.entries()) {
          signal.throwIfAborted();
          await adopt.rows(payload);
          await forget();
        }
        for (const { payload, reason, forget } of left.quarantined()) {
          await journal.quarantine(payload, reason);
          await forget();
        }
        for (const { key, text, forget } of left.logRecords()) {
          await events.add([{ key, text }]);
          await forget();
        }
      } finally {
        await left.close();
      }
      left.remove();
      logger.info({ node: name }, "took over the journal of another node");
    }
  });
}
