import type { Logger } from "pino";
import { randomToken } from "../lib/random-token.ts";
import { jobsLimits } from "./limits.ts";
import type { LeaseStore } from "../storage/control/lease-store.ts";
import { scheduleJob } from "./schedule.ts";

/** Upkeep shared by all nodes runs on one of them: the holder of the lease in the control store. */
export type Leader = {
  isLeader(): boolean;
  /** Runs `work` if this node leads. Its signal is aborted when the lease is lost, too. */
  lead(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Releases the lease, so that another node can lead immediately. */
  stop(): Promise<void>;
};

export function startLeader(deps: {
  leases: LeaseStore;
  /** Whether the clock of this node is close enough to that of the others. */
  mayLead: () => boolean;
  logger: Logger;
  now: () => number;
  renewEveryMs?: number;
}): Leader {
  const { leases, mayLead, logger, now, renewEveryMs = jobsLimits.leaseRenewEveryMs } = deps;
  const lease = { name: "upkeep", owner: randomToken(12) };
  let untilMs = 0;
  let lost = new AbortController();
  const isLeader = (): boolean => now() < untilMs;

  const lose = (): void => {
    untilMs = 0;
    lost.abort(new Error("another node does this now"));
    lost = new AbortController();
  };
  const renew = async (): Promise<void> => {
    const nowMs = now();
    const until = nowMs + jobsLimits.leaseMs;
    const times = { now: new Date(nowMs).toISOString(), until: new Date(until).toISOString() };
    const wasLeader = untilMs > 0;
    if (!mayLead()) {
      if (wasLeader) await leases.release(lease);
    } else if (await leases.take({ ...lease, ...times })) {
      untilMs = until;
      if (!wasLeader)
        logger.info(
          "this node is now the leader: it runs retention, the purge of deleted traces and the sweep of unused media",
        );
      return;
    }
    if (wasLeader) lose();
  };
  let first: Promise<void> | undefined;
  const renewing = scheduleJob({ name: "lease of upkeep", everyMs: renewEveryMs, logger }, async () => {
    const renewed = renew().finally(() => {
      if (untilMs > 0 && !isLeader()) lose();
    });
    first ??= renewed.catch(() => undefined);
    await renewed;
  });
  return {
    isLeader,
    async lead(signal, work) {
      await first;
      if (isLeader()) await work(AbortSignal.any([signal, lost.signal]));
    },
    async stop() {
      await renewing.stop();
      if (!isLeader()) return;
      lose();
      await leases
        .release(lease)
        .catch((error: unknown) => logger.warn({ err: error }, "a lease could not be released"));
    },
  };
}
