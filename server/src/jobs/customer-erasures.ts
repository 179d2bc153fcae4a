import type { Logger } from "pino";
import type { CustomerErasures } from "../customers/erasures.ts";
import { jobsLimits } from "./limits.ts";
import { scheduleJob } from "./schedule.ts";

/**
 * Starts learning of other nodes' deletions, if there may be other nodes, and forgetting names. Returns a function that
 * stops both.
 */
export function startCustomerErasures(
  erasures: Pick<CustomerErasures, "sweep" | "deleteNames">,
  { settle, isOnlyNode, logger }: { settle: () => Promise<void>; isOnlyNode: boolean; logger: Logger },
): () => Promise<void> {
  const every = { name: "customer erasures", everyMs: jobsLimits.customerErasureSweepEveryMs, logger };
  const jobs = [
    ...(isOnlyNode ? [] : [scheduleJob(every, (signal) => erasures.sweep(settle, signal))]),
    scheduleJob({ name: "erased names", everyMs: jobsLimits.erasedNamesEveryMs, logger }, () => erasures.deleteNames()),
  ];
  return async () => {
    await Promise.all(jobs.map((job) => job.stop()));
  };
}
