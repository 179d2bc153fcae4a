import { randomToken } from "../lib/random-token.ts";
import type { LeaseStore } from "../storage/control/lease-store.ts";
import { jobsLimits } from "./limits.ts";

/**
 * Runs `work` if no other work of this name runs on any node. Its signal is aborted if the lease could not be renewed
 * in time. Undefined if other work holds the lease. Unlike a leader (leader.ts), which acquires a lost lease again, it
 * ends with its lease, and tolerates failed renewals until the lease is about to expire.
 */
export async function withLease<T>(
  { leases, now, name }: { leases: LeaseStore; now: () => number; name: string },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<{ result: T } | undefined> {
  const lease = { name, owner: randomToken(12) };
  const isoIn = (ms: number): string => new Date(now() + ms).toISOString();
  const take = () => leases.take({ ...lease, now: isoIn(0), until: isoIn(jobsLimits.leaseMs) });
  if (!(await take())) return undefined;
  const lost = new AbortController();
  let renewedAt = performance.now();
  const renewing = setInterval(() => {
    const startedAt = performance.now();
    void take().then(
      (isLeased) => {
        if (isLeased) renewedAt = startedAt;
        else lost.abort(new Error(`the lease "${name}" was lost`));
      },
      (error: unknown) => {
        if (performance.now() - renewedAt > jobsLimits.leaseMs - jobsLimits.leaseRenewEveryMs) lost.abort(error);
      },
    );
  }, jobsLimits.leaseRenewEveryMs);
  try {
    return { result: await work(AbortSignal.any([signal, lost.signal])) };
  } finally {
    clearInterval(renewing);
    // Otherwise it expires.
    await leases.release(lease).catch(() => undefined);
  }
}
