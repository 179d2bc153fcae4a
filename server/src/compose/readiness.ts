import type { Checks, Readiness } from "../api/system/get-readyz.ts";
import type { Recorder } from "../gateway/record/recorder.ts";
import type { SpanWriter } from "../ingest/writer/writer.ts";
import type { SpanMigration } from "../jobs/migrate-spans.ts";
import { telemetryLimits } from "../telemetry/limits.ts";
import type { ControlWatch } from "../storage/control/control-watch.ts";
import type { StoreClock } from "../storage/control/store-clock.ts";
import type { ControlDatabase } from "../storage/control/open-control-database.ts";
import type { Journal } from "../storage/journal/journal.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";

export type NodeReadiness = Readiness & {
  /** Makes the node not ready from now on. */
  stopping(): void;
};

/** Readiness for load balancers: whether the node takes spans and calls, and whether it takes reads. */
export function composeReadiness(deps: {
  database: Pick<ControlDatabase, "ping">;
  control: Pick<ControlWatch, "isDown" | "mayServeStale">;
  clock: Pick<StoreClock, "isRefused">;
  journal: Pick<Journal, "hasCapacity">;
  recorder: Pick<Recorder, "hasRoom">;
  writer: Pick<SpanWriter, "state">;
  spans: Pick<SpanStore, "ping">;
  migration: Pick<SpanMigration, "isDone">;
}): NodeReadiness {
  const { control } = deps;
  let isStopping = false;
  return {
    stopping: () => void (isStopping = true),
    traffic: async () => ({
      node: isStopping ? "stopping" : "ok",
      // Cached values are served meanwhile.
      control: !control.isDown() || control.mayServeStale() ? "ok" : "has not answered for too long",
      clock: deps.clock.isRefused() ? "differs too much from the control store's" : "ok",
      journal: deps.journal.hasCapacity() ? "ok" : "full",
      calls: deps.recorder.hasRoom() ? "ok" : "too many wait to be recorded",
    }),
    async reads(): Promise<Checks> {
      const { isReplayed, failing } = deps.writer.state();
      return {
        control: await check(() => deps.database.ping()),
        spans: deps.migration.isDone() ? await check((signal) => deps.spans.ping(signal)) : "has no tables yet",
        replay: isReplayed ? "ok" : "replaying",
        writer: failing === undefined ? "ok" : `failing since ${new Date(failing.sinceMs).toISOString()}`,
      };
    },
  };
}

async function check(probe: (signal: AbortSignal) => Promise<void>): Promise<string> {
  const signal = AbortSignal.timeout(telemetryLimits.readinessMs);
  const late = new Promise<string>((resolve) => signal.addEventListener("abort", () => resolve("does not answer")));
  const answer = probe(signal).then(
    () => "ok",
    () => "does not answer",
  );
  return Promise.race([answer, late]);
}
