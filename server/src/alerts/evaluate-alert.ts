import type { Logger } from "pino";
import { countStates, nextStatuses, retireStatuses, type AlertChange, type Measured } from "../domain/alert-state.ts";
import { nextEvaluationMs, nextWindowEndMs, type AlertClock } from "../domain/alert-window.ts";
import {
  definitionOf,
  durationMs,
  type Alert,
  type AlertDefinition,
  type AlertEventType,
  type AlertGroupStatus,
} from "../domain/alert.ts";
import { ServiceError } from "../domain/errors.ts";
import type { Events } from "../delivery/events.ts";
import { alertsLimits } from "./limits.ts";
import type { ControlStores, ControlStoreSet } from "../storage/control/control-stores.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { AlertMetrics } from "../telemetry/alert-metrics.ts";
import { errorEntry, historyEntry, webhookEvent } from "./alert-events.ts";
import { measure, measureTogether, type ReadableRule } from "./measure.ts";
import { readDefinition, type DefinitionDeps } from "./read-definition.ts";

export type EvaluateAlertDeps = DefinitionDeps & {
  stores: ControlStores;
  spans: Pick<SpanStore, "spanSeries" | "splitSeries">;
  events: Pick<Events, "publishWithin">;
  /** Whether accepted spans still wait for the span store: then it is too early to evaluate. */
  isBehind: () => boolean;
  publicUrl: string | undefined;
  metrics: AlertMetrics;
  logger: Logger;
  now: () => number;
};

/**
 * Evaluates the next window of claimed rules that are measured together. If a rule cannot be evaluated, records the
 * reason and the time of the next try. Rejects if the control store does.
 */
export async function evaluateAlerts(
  deps: EvaluateAlertDeps,
  together: readonly Alert[],
  signal: AbortSignal,
): Promise<void> {
  const clock = clockAt(deps.now());
  // Most rules are at the same minute.
  const byEnd = new Map<number, Alert[]>();
  for (const alert of together) {
    const evaluatedUntilMs = alert.evaluated_until === null ? undefined : Date.parse(alert.evaluated_until);
    const endMs = nextWindowEndMs({ evaluatedUntilMs, windowMs: durationMs(alert.window) ?? 0 }, clock);
    if (endMs !== undefined) byEnd.set(endMs, [...(byEnd.get(endMs) ?? []), alert]);
    else await deps.stores.alerts.release(alert, iso(nextEvaluationMs(evaluatedUntilMs ?? 0, clock)));
  }
  for (const [endMs, alerts] of byEnd) {
    for (let start = 0; start < alerts.length; start += alertsLimits.alertsTogether) {
      const stop = deps.metrics.evaluationSeconds.startTimer();
      const some = alerts.slice(start, start + alertsLimits.alertsTogether);
      await evaluateWindow(deps, some, { endMs, nextAt: iso(nextEvaluationMs(endMs, clock)), signal });
      stop();
    }
  }
}

type WindowToEvaluate = { endMs: number; nextAt: string; signal: AbortSignal };

async function evaluateWindow(
  deps: EvaluateAlertDeps,
  alerts: readonly Alert[],
  { endMs, nextAt, signal }: WindowToEvaluate,
): Promise<void> {
  const rules: ReadableRule[] = [];
  for (const alert of alerts) {
    await orPutOff(deps, [alert], signal, async () => {
      if (deps.isBehind()) throw new ServiceError("unavailable", "Accepted spans wait for the span store.");
      const definition = await readDefinition(alert, alert.unique_organization_id, deps, `f${rules.length}_`);
      rules.push({ alert, definition });
    });
  }
  const window = { endMs, signal };
  let measured: ReadonlyArray<Measured | undefined> = [];
  const all = rules.map(({ alert }) => alert);
  const isAnswered = await orPutOff(deps, all, signal, async () => {
    measured = await measureTogether(deps.spans, rules, window);
  });
  if (!isAnswered) return;
  for (const [index, rule] of rules.entries()) {
    await orPutOff(deps, [rule.alert], signal, async () => {
      const found = measured[index] ?? (await measure(deps.spans, [rule], window))[0];
      if (found === undefined) return;
      if (!found.isComplete) deps.metrics.truncated.inc();
      await finish(deps, rule.alert, found, nextAt);
      deps.metrics.evaluations.inc({ outcome: "evaluated" });
    });
  }
}

/**
 * Returns true if `work` succeeded. After a failure the rules are retried later, or immediately if the process is
 * ending.
 */
async function orPutOff(
  deps: EvaluateAlertDeps,
  alerts: readonly Alert[],
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    for (const alert of alerts) {
      if (signal.aborted) await deps.stores.alerts.release(alert, iso(deps.now()));
      else await putOff(deps, alert, error);
    }
    return false;
  }
}

export function clockAt(nowMs: number): AlertClock {
  return { nowMs, settleMs: alertsLimits.alertSettleMs, catchUpMs: alertsLimits.alertCatchUpMs };
}

/** Stores states, history and events in one transaction, once per window. */
async function finish(deps: EvaluateAlertDeps, alert: Alert, measured: Measured, nextAt: string): Promise<void> {
  const { stores, events, publicUrl, now } = deps;
  const definition = definitionOf(alert);
  const { statuses, changes } = await judge(stores, alert, definition, measured);
  const { windowEnd } = measured;
  const write = async (set: ControlStoreSet): Promise<() => void> => {
    const isFirst = await set.alerts.finish({
      id: alert.id,
      revision: alert.revision,
      window_end: windowEnd,
      next_evaluation_at: nextAt,
      counts: countStates(statuses),
      definition,
      statuses,
    });
    if (!isFirst || changes.length === 0) return () => undefined;
    const at = iso(now());
    await set.alerts.addHistory(changes.map((change) => historyEntry(alert, change, { windowEnd, at })));
    const withEvents = changes.filter(hasEvent);
    if (withEvents.length === 0) return () => undefined;
    const channels = await set.webhooks.listChannels(alert.unique_organization_id, [alert.id]);
    const context = { windowEnd, publicUrl, channels: channels.filter(({ active }) => active) };
    return await events.publishWithin(
      set,
      withEvents.map((change) => webhookEvent(alert, change, context)),
    );
  };
  // A change of values only need not wait for the disk.
  const committed = await (changes.length === 0 ? stores.unflushed(write) : stores.transaction(write));
  committed();
}

async function judge(
  { alerts }: Pick<ControlStores, "alerts">,
  alert: Alert,
  definition: AlertDefinition,
  measured: Measured,
): Promise<{ statuses: AlertGroupStatus[]; changes: AlertChange[] }> {
  const stored = await alerts.statuses(alert.id);
  const before = stored?.statuses ?? [];
  const isSame = stored !== undefined && JSON.stringify(stored.definition) === JSON.stringify(definition);
  const retired = isSame ? { changes: [] } : retireStatuses(before, measured.windowEnd);
  const bounds = {
    groups: alertsLimits.alertGroups,
    events: alertsLimits.alertEvents - retired.changes.length,
    memoryMs: alertsLimits.alertGroupMemoryMs,
  };
  const { statuses, changes } = nextStatuses(definition, isSame ? before : [], measured, bounds);
  return { statuses, changes: [...retired.changes, ...changes] };
}

function hasEvent(change: AlertChange): change is AlertChange & { event: AlertEventType } {
  return change.event !== null;
}

async function putOff(
  { stores, metrics, logger, now }: EvaluateAlertDeps,
  alert: Alert,
  cause: unknown,
): Promise<void> {
  const nowMs = now();
  const { error, retryMs, outcome } = failureOf(cause);
  if (outcome === "failed" && !(cause instanceof ServiceError)) {
    logger.error({ err: cause, alert: alert.id }, "an alert rule could not be evaluated");
  }
  metrics.evaluations.inc({ outcome });
  const at = iso(nowMs);
  await stores.transaction(async ({ alerts }) => {
    const isNew = await alerts.putOff(alert, { error, at, next_evaluation_at: iso(nowMs + retryMs) });
    if (isNew) await alerts.addHistory([errorEntry(alert, error, at)]);
  });
}

/** An unavailable store says nothing about the spans: the same window is evaluated later. */
function failureOf(cause: unknown): { error: string; retryMs: number; outcome: "put_off" | "failed" } {
  const error =
    cause instanceof ServiceError ? cause.message.slice(0, alertsLimits.alertErrorChars) : "An internal error.";
  if (!(cause instanceof ServiceError)) return { error, retryMs: alertsLimits.alertErrorRetryMs, outcome: "failed" };
  if (cause.code === "unavailable") {
    return { error: `Put off: ${error}`, retryMs: alertsLimits.alertRetryMs, outcome: "put_off" };
  }
  const retryMs = cause.code === "query_too_large" ? alertsLimits.alertHeavyRetryMs : alertsLimits.alertErrorRetryMs;
  return { error, retryMs, outcome: "failed" };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
