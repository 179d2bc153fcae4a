import type { WatchLimits } from "../lib/fair-share.ts";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Config } from "../config/config.ts";
import { ingestLimits } from "../ingest/limits.ts";
import { createLogJoiner, partyOfKey, type LogJoiner, type LogJoinerDeps } from "../ingest/otlp/join-logs.ts";
import type { Adopt } from "../ingest/writer/adopt.ts";
import { startAdoption } from "../jobs/adopt-journals.ts";
import { scheduleJob } from "../jobs/schedule.ts";
import { adoptedFolder } from "../storage/backup/export-journal.ts";
import type { Journal } from "../storage/journal/journal.ts";
import { openPendingLogRecords } from "../storage/journal/pending-log-records.ts";
import { watchLogEvents } from "../telemetry/ingest-metrics.ts";

type LogJoiningParts = {
  config: Pick<Config, "dataDir">;
  logger: Logger;
  registry: Registry;
  watchLimits: WatchLimits;
  cleanup: Array<() => Promise<void> | void>;
};

/**
 * Log records wait on disk for the spans that they complete. Also takes over the journals, spools and log records of
 * other nodes.
 */
export function startLogJoining(
  { config, logger, registry, watchLimits, cleanup }: LogJoiningParts,
  deps: Omit<LogJoinerDeps, "events"> & { journal: Pick<Journal, "quarantine"> },
  adopt: Adopt,
): LogJoiner {
  const path = join(config.dataDir, "otlp-logs");
  const events = openPendingLogRecords({
    path,
    maxBytes: ingestLimits.otlpWaitingBytes,
    partyOf: partyOfKey,
    now: deps.now,
  });
  cleanup.push(() => events.close());
  watchLogEvents(registry, events);
  watchLimits({ otlpWaitingBytes: events.limit });
  const logs = createLogJoiner({ ...deps, events });
  const joining = scheduleJob({ name: "log join", everyMs: ingestLimits.otlpJoinEveryMs, logger }, (signal) =>
    logs.joinWaiting(signal),
  );
  cleanup.push(() => joining.stop());
  const adoption = startAdoption({ ...deps, path: adoptedFolder(config.dataDir), adopt, events, logger });
  cleanup.push(() => adoption.stop());
  return logs;
}
