import { gatewayLimits } from "../limits.ts";
import type { UpstreamProblem } from "../providers/provider.ts";
import type { Outcome } from "./plan.ts";

/**
 * Credentials that failed lately, by `credentialId`. A credential that cools down is used after all others, and by one
 * call at a time: that call is a probe for all that wait, so that the end of an outage causes no stampede.
 */
export type CoolDown = {
  /** Milliseconds until the cool-down ends; 0 if the credential has none. */
  remainingMs(id: string): number;
  isReady(id: string): boolean;
  /**
   * Requests the use of a credential. `go`: use it, and report the outcome. A promise: another call probes it; resolves
   * with the problem of that call, or with undefined when `enter` may be called again.
   */
  enter(id: string): "go" | Promise<UpstreamProblem | undefined>;
  report(id: string, outcome: Outcome): void;
  /** For the metric. */
  size(): number;
};

type Cooling = {
  /** Consecutive failures. */
  failures: number;
  untilMs: number;
  /** Whether the credential is avoided after these failures. */
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
  /** Called when the oldest entry was dropped because the table is full. */
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
      if (outcome === "started") {
        // The credential works, so that others may use it. The failure count stays until the call has ended.
        if (entry) Object.assign(entry, { isOpen: false, untilMs: 0 });
        entry?.probe?.end();
        return undefined;
      }
      if (outcome === "aborted") {
        entry?.probe?.end();
        if (entry) entry.probe = undefined;
        return undefined;
      }
      // The upstream accepted the credential if it judged the request.
      entries.delete(id);
      entry?.probe?.end();
      return undefined;
    },

    size: () => entries.size,
  };
}

/** A probe that reports no outcome in time is not waited for. */
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

/**
 * An invalid key cools down immediately, a busy one for as long as the upstream requested, any other after several
 * consecutive failures.
 */
function pauseAfter(problem: UpstreamProblem, failures: number): number {
  if (problem.kind === "credential") return gatewayLimits.deadCredentialMs;
  if (problem.kind === "busy" && problem.retryAfterMs !== undefined && problem.retryAfterMs > 0) {
    return Math.min(problem.retryAfterMs, gatewayLimits.coolDownMaxMs);
  }
  const beyond = failures - gatewayLimits.failuresBeforeCoolDown;
  return beyond < 0 ? 0 : Math.min(gatewayLimits.coolDownMs * 2 ** Math.min(beyond, 20), gatewayLimits.coolDownMaxMs);
}
