import { limits } from "../limits.ts";
import type { Alert } from "../domain/alert.ts";
import type { AlertStore } from "../storage/control/alert-store.ts";

/**
 * Evaluates the rules that are due, one of an organization at a time and organizations in turns, so that one with slow rules delays
 * others by one rule at most. Any number of these may run, on any number of nodes.
 */
export function createAlertTurns({
  alerts,
  evaluate,
  now,
}: {
  alerts: Pick<AlertStore, "claim">;
  evaluate: (alert: Alert, signal: AbortSignal) => Promise<void>;
  now: () => number;
}): (signal: AbortSignal) => Promise<void> {
  const underWay = new Set<string>();
  const served = new Set<string>();
  const claim = (except: Iterable<string>) => {
    const nowMs = now();
    const until = new Date(nowMs + limits.alertClaimMs).toISOString();
    return alerts.claim({ now: new Date(nowMs).toISOString(), until, except: [...except] });
  };
  const claimNext = async (): Promise<Alert | undefined> => {
    const fresh = served.size === 0 ? undefined : await claim(underWay.union(served));
    if (fresh === undefined) served.clear();
    const alert = fresh ?? (await claim(underWay));
    if (alert === undefined) return undefined;
    underWay.add(alert.unique_organization_id);
    served.add(alert.unique_organization_id);
    return alert;
  };
  // One claim after the other: each leaves out the organizations of those before it.
  let claiming: Promise<unknown> = Promise.resolve();
  const nextInTurn = (): Promise<Alert | undefined> => {
    const claimed = claiming.then(claimNext);
    claiming = claimed.catch(() => undefined);
    return claimed;
  };
  return async (signal) => {
    while (!signal.aborted) {
      const alert = await nextInTurn();
      if (alert === undefined) return;
      try {
        await evaluate(alert, signal);
      } finally {
        underWay.delete(alert.unique_organization_id);
      }
    }
  };
}
