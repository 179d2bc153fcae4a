import { setTimeout as sleep } from "node:timers/promises";
import { alertsLimits } from "./limits.ts";
import type { Alert } from "../domain/alert.ts";
import type { AlertStore } from "../storage/control/alert-store.ts";

/**
 * Evaluates the rules that are due. One query measures all rules that can share it. Organizations take turns, so slow rules of one
 * organization delay the others by at most one query. Any number of these may run, on any number of nodes.
 */
export function createAlertTurns({
  alerts,
  evaluate,
  now,
}: {
  alerts: Pick<AlertStore, "claim">;
  /** Rules of one organization, at least one, that are measured together. */
  evaluate: (together: readonly Alert[], signal: AbortSignal) => Promise<void>;
  now: () => number;
}): (signal: AbortSignal) => Promise<void> {
  const running = new Set<string>();
  const served = new Set<string>();
  const claim = (except: Iterable<string>) => {
    const nowMs = now();
    const until = new Date(nowMs + alertsLimits.alertClaimMs).toISOString();
    return alerts.claim({ now: new Date(nowMs).toISOString(), until, except: [...except] });
  };
  const claimNext = async (): Promise<Alert[]> => {
    let claimed = served.size === 0 ? [] : await claim(running.union(served));
    if (claimed.length === 0) {
      served.clear();
      claimed = await claim(running);
    }
    for (const { unique_organization_id: organization } of claimed) {
      running.add(organization);
      served.add(organization);
    }
    return claimed;
  };
  // Claims run one after another: each leaves out the organizations of those before it.
  let claiming: Promise<unknown> = Promise.resolve();
  const nextInTurn = (): Promise<Alert[]> => {
    const claimed = claiming.then(claimNext);
    claiming = claimed.catch(() => undefined);
    return claimed;
  };
  return async (signal) => {
    while (!signal.aborted) {
      const together = await nextInTurn();
      if (together.length === 0) return;
      const startedMs = now();
      try {
        await evaluate(together, signal);
      } finally {
        for (const alert of together) running.delete(alert.unique_organization_id);
      }
      // The pause lets reads of waiting users run in between.
      if (!isLate(together, startedMs)) await rest(Math.min(now() - startedMs, alertsLimits.alertPauseMs), signal);
    }
  };
}

/** Whether evaluation is behind and must not pause. */
function isLate(together: readonly Alert[], nowMs: number): boolean {
  return together.some(
    ({ evaluated_until: until }) => until === null || nowMs - Date.parse(until) > alertsLimits.alertLateMs,
  );
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined);
}
