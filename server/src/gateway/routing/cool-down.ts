import { gatewayLimits } from "../limits.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import type { Outcome } from "./plan.ts";

/**
 * Credentials that failed lately, by `credentialId`. One that cools down is used after all others, and by one call at a time: that
 * call finds out for all that wait (a probe), so that the end of an outage is no stampede.
 */
export type CoolDown = {
  /** Milliseconds until the cool-down is over; 0 where the credential has none. */
  remainingMs(id: string): number;
  isReady(id: string): boolean;
  /**
   * Asks to use a credential. `go`: use it, and report how it went. A promise: another call is finding out; it resolves with
   * that call's problem, or with nothing when it makes sense to ask again.
   */
  enter(id: string): "go" | Promise<UpstreamProblem | undefined>;
  report(id: string, outcome: Outcome): void;
  /** For the metric. */
  size(): number;
};

type Cooling = {
  /** Failures in a row. */
  failures: number;
  untilMs: number;
  /** Whether the failures were enough to avoid the credential. */
  isOpen: boolean;
  probe: Probe | undefined;
};

type Probe = {
  startedMs: number;
  done: Promise<UpstreamProblem | undefined>;
  end: (problem?: UpstreamProblem) => void;
};

export type CoolDownDeps = {
  now: () => number;
  /** Told when the oldest entry was dropped for want of room. */
  onDropped?: () => void;
};

export function createCoolDown({ now, onDropped }: CoolDownDeps): CoolDown {
  const entries = new Map<string, Cooling>();

  const put = (id: string, entry: Cooling): void => {
    entries.delete(id);
    entries.set(id, entry);
    if (entries.size <= gatewayLimits.coolingCredentials) return;
    for (const [oldest, { probe }] of entries) {
      entries.delete(oldest);
      probe?.end();
      onDropped?.();
      break;
    }
  };

  const fail = (id: string, problem: UpstreamProblem): void => {
    const before = entries.get(id);
    const failures = (before?.failures ?? 0) + 1;
    const pauseMs = pauseAfter(problem, failures);
    put(id, {
      failures,
      untilMs: Math.max(before?.untilMs ?? 0, now() + pauseMs),
      isOpen: pauseMs > 0 || before?.isOpen === true,
      probe: undefined,
    });
    before?.probe?.end(problem);
  };

  return {
    remainingMs: (id) => {
      const entry = entries.get(id);
      return entry?.isOpen ? Math.max(0, entry.untilMs - now()) : 0;
    },

    isReady: (id) => {
      const entry = entries.get(id);
      return entry === undefined || !entry.isOpen || (entry.untilMs <= now() && !isRunning(entry.probe, now()));
    },

    enter: (id) => {
      const entry = entries.get(id);
      if (!entry?.isOpen) return "go";
      if (entry.probe && isRunning(entry.probe, now())) return entry.probe.done;
      entry.probe?.end();
      entry.probe = startProbe(now());
      return "go";
    },

    report: (id, outcome) => {
      const entry = entries.get(id);
      if (typeof outcome === "object" && outcome.kind !== "request") return fail(id, outcome);
      if (outcome === "begun") {
        // It works, so that others may use it. How many failed in a row is told by how they end.
        if (entry) Object.assign(entry, { isOpen: false, untilMs: 0 });
        entry?.probe?.end();
        return undefined;
      }
      if (outcome === "aborted") {
        entry?.probe?.end();
        if (entry) entry.probe = undefined;
        return undefined;
      }
      // An upstream that judges the request has taken the credential.
      entries.delete(id);
      entry?.probe?.end();
      return undefined;
    },

    size: () => entries.size,
  };
}

/** A probe whose call never says how it went is not waited for. */
function isRunning(probe: Probe | undefined, nowMs: number): boolean {
  return probe !== undefined && nowMs - probe.startedMs < gatewayLimits.probeMs;
}

function startProbe(startedMs: number): Probe {
  let end: Probe["end"] = () => {};
  const done = new Promise<UpstreamProblem | undefined>((resolve) => {
    end = resolve;
  });
  return { startedMs, done, end: (problem) => end(problem) };
}

/** A dead key rests at once, a busy one as long as it was asked to, anything else after some failures in a row. */
function pauseAfter(problem: UpstreamProblem, failures: number): number {
  if (problem.kind === "credential") return gatewayLimits.deadCredentialMs;
  if (problem.kind === "busy" && problem.retryAfterMs !== undefined && problem.retryAfterMs > 0) {
    return Math.min(problem.retryAfterMs, gatewayLimits.coolDownMaxMs);
  }
  const beyond = failures - gatewayLimits.failuresBeforeCoolDown;
  return beyond < 0 ? 0 : Math.min(gatewayLimits.coolDownMs * 2 ** Math.min(beyond, 20), gatewayLimits.coolDownMaxMs);
}
