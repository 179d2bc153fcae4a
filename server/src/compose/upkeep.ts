import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Config } from "../config/config.ts";
import { startLeader, type Leader } from "../jobs/leader.ts";
import { sweepUnusedMedia, enforceRetention, type RetentionDeps } from "../jobs/retention.ts";
import { scheduleJob } from "../jobs/schedule.ts";
import { jobsLimits } from "../jobs/limits.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { StoreClock } from "../storage/control/store-clock.ts";
import { createUpkeepMetrics } from "../telemetry/upkeep-metrics.ts";

type UpkeepParts = {
  config: Pick<Config, "retentionDays">;
  logger: Logger;
  registry: Registry;
  cleanup: Array<() => Promise<void> | void>;
};

/** Upkeep that one node does for all: deletes expired spans, and media that nothing uses. */
export function startUpkeep(
  { config, logger, registry, cleanup }: UpkeepParts,
  deps: Omit<RetentionDeps, "instanceDays" | "onFailure" | "onDeleted" | "onEnd"> &
    Parameters<typeof sweepUnusedMedia>[0] & { spans: Pick<SpanStore, "deletionProgress"> } & Pick<
      ControlStores,
      "leases"
    > & { clock: StoreClock },
): Leader {
  const metrics = createUpkeepMetrics(registry);
  const leader = startLeader({ ...deps, mayLead: () => deps.clock.mayLead(), logger });
  metrics.watchLeader(() => leader.isLeader());
  cleanup.push(() => leader.stop());
  const retain: RetentionDeps = {
    ...deps,
    instanceDays: config.retentionDays,
    onFailure(error, organizationId) {
      metrics.retentionFailures.inc();
      logger.error({ err: error, organizationId }, "expired rows could not be deleted; this is retried later");
    },
    onDeleted: (expired) => metrics.deleted(expired),
    onEnd: (nowMs) => metrics.retentionEnded.set(nowMs / 1000),
  };
  const every = (name: string, everyMs: number, work: (signal: AbortSignal) => Promise<void>): void => {
    const job = scheduleJob({ name, everyMs, logger }, (signal) => leader.lead(signal, work));
    cleanup.push(() => job.stop());
  };
  every("retention", jobsLimits.retentionEveryMs, (signal) => enforceRetention(retain, signal));
  every("progress of deletions", jobsLimits.deletionProgressEveryMs, async (signal) =>
    metrics.toDo(await deps.spans.deletionProgress(signal)),
  );
  every("media sweep", jobsLimits.mediaSweepEveryMs, (signal) => sweepUnusedMedia(deps, signal));
  return leader;
}
