import {
  durationMs,
  type AlertCounts,
  type AlertDefinition,
  type AlertEventType,
  type AlertGroup,
  type AlertGroupStatus,
  type AlertMeasurement,
  type AlertOperator,
  type AlertState,
} from "./alert.ts";

/** The measurements of all groups in one window. */
export type Measured = {
  /** Groups that have spans in the window or in the one before it. */
  measurements: readonly AlertMeasurement[];
  /** False if there are more groups than may be watched. */
  isComplete: boolean;
  /** The value of a group without spans: 0 for a count, otherwise null. */
  emptyValue: number | null;
  /** The end of the window, ISO 8601. */
  windowEnd: string;
};

/** A group whose state changed, or for which channels get an event. */
export type AlertChange = { previous: AlertState; status: AlertGroupStatus; event: AlertEventType | null };

export type AlertBounds = {
  /** Maximum number of groups that are kept. */
  groups: number;
  /** Maximum number of events of one evaluation; the others follow with the next. */
  events: number;
  /** Minimum time for which a group without spans is kept. */
  memoryMs: number;
};

/**
 * The states of all groups after a window, from those before it. Pure: the same input gives the same result on every
 * node.
 *
 * A group that was not seen before starts as `ok`. Channels get `alert_triggered` once each time a group triggers, at
 * most once per cooldown, and `alert_resolved` once after it. An event that the cooldown or the bound on events delays
 * is sent as soon as they allow it, if it still applies.
 */
export function nextStatuses(
  definition: AlertDefinition,
  before: readonly AlertGroupStatus[],
  measured: Measured,
  bounds: AlertBounds,
): { statuses: AlertGroupStatus[]; changes: AlertChange[] } {
  const known = new Map(before.map((status) => [groupKey(status.group), status]));
  const statuses: AlertGroupStatus[] = [];
  const changes: AlertChange[] = [];
  let events = 0;
  const take = (measurement: AlertMeasurement, previous: AlertGroupStatus | undefined, isRetained = true): void => {
    const from = previous ?? newStatus(measurement.group, measured.windowEnd);
    const mayNotify = events < bounds.events;
    const { status, event } = advance(definition, from, measurement, { windowEnd: measured.windowEnd, mayNotify });
    if (event !== null) events += 1;
    if (event !== null || status.state !== from.state) changes.push({ previous: from.state, status, event });
    // A group that was reported as triggered is kept until its `alert_resolved` is sent.
    if (isRetained || status.is_notified) statuses.push(status);
  };
  for (const measurement of measured.measurements) {
    const key = groupKey(measurement.group);
    take(measurement, known.get(key));
    known.delete(key);
  }
  for (const status of known.values()) {
    if (!measured.isComplete) {
      if (statuses.length < bounds.groups || status.is_notified) statuses.push(status);
      continue;
    }
    const isExpired = isUnseen(definition, status, measured.windowEnd, bounds.memoryMs);
    const value = isExpired ? null : measured.emptyValue;
    take(withoutSpans(definition, status.group, value), status, !isExpired && statuses.length < bounds.groups);
  }
  return { statuses, changes };
}

/** Ends the groups of a definition that changed: those reported as triggered are resolved. */
export function retireStatuses(
  before: readonly AlertGroupStatus[],
  windowEnd: string,
): { statuses: AlertGroupStatus[]; changes: AlertChange[] } {
  const changes = before
    .filter(({ is_notified }) => is_notified)
    .map((status): AlertChange => {
      const over: AlertGroupStatus = { ...status, state: "no_data", value: null, since: windowEnd, is_notified: false };
      return { previous: status.state, status: over, event: "alert_resolved" };
    });
  return { statuses: [], changes };
}

function advance(
  { cooldown, ...definition }: AlertDefinition,
  before: AlertGroupStatus,
  measurement: AlertMeasurement,
  { windowEnd, mayNotify }: { windowEnd: string; mayNotify: boolean },
): { status: AlertGroupStatus; event: AlertEventType | null } {
  const state = judge(definition, measurement);
  const { previous_number_of_requests: _previous, ...measuredNow } = measurement;
  const status: AlertGroupStatus = {
    ...before,
    ...measuredNow,
    state,
    since: state === before.state ? before.since : windowEnd,
    seen_at: measurement.number_of_requests > 0 ? windowEnd : before.seen_at,
  };
  if (!mayNotify) return { status, event: null };
  if (state !== "triggered") {
    return { status: { ...status, is_notified: false }, event: before.is_notified ? "alert_resolved" : null };
  }
  const quietUntilMs = before.notified_at === null ? 0 : Date.parse(before.notified_at) + (durationMs(cooldown) ?? 0);
  if (before.is_notified || Date.parse(windowEnd) < quietUntilMs) return { status, event: null };
  return { status: { ...status, is_notified: true, notified_at: windowEnd }, event: "alert_triggered" };
}

type Judged = Pick<AlertDefinition, "operator" | "threshold" | "change_percentage" | "min_requests">;

function judge(
  { operator, threshold, change_percentage: change, min_requests: least }: Judged,
  { value, number_of_requests: requests, previous_value, previous_number_of_requests }: AlertMeasurement,
): AlertState {
  if (value === null || requests < least) return "no_data";
  if (change === null) return holds[operator](value, threshold ?? Number.NaN) ? "triggered" : "ok";
  if (previous_value === null || previous_number_of_requests < least) return "no_data";
  return holds[operator](changePercentage(previous_value, value), change) ? "triggered" : "ok";
}

/** A change from 0 to anything else is infinite. */
export function changePercentage(previous: number, value: number): number {
  if (value === previous) return 0;
  if (previous === 0) return value > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  return ((value - previous) / Math.abs(previous)) * 100;
}

const holds: Readonly<Record<AlertOperator, (value: number, bound: number) => boolean>> = {
  gt: (value, bound) => value > bound,
  gte: (value, bound) => value >= bound,
  lt: (value, bound) => value < bound,
  lte: (value, bound) => value <= bound,
};

export function countStates(statuses: readonly AlertGroupStatus[]): AlertCounts {
  const counts: AlertCounts = { ok: 0, triggered: 0, no_data: 0 };
  for (const { state } of statuses) counts[state] += 1;
  return counts;
}

function isUnseen({ window }: AlertDefinition, { seen_at }: AlertGroupStatus, end: string, memoryMs: number): boolean {
  return Date.parse(end) - Date.parse(seen_at) > Math.max(memoryMs, durationMs(window) ?? 0);
}

function groupKey(group: AlertGroup): string {
  return JSON.stringify(group);
}

function withoutSpans(
  { change_percentage }: AlertDefinition,
  group: AlertGroup,
  value: number | null,
): AlertMeasurement {
  const previous_value = change_percentage === null ? null : value;
  return { group, value, number_of_requests: 0, previous_value, previous_number_of_requests: 0 };
}

/** The status of a group before its first evaluation. */
export function newStatus(group: AlertGroup, windowEnd: string): AlertGroupStatus {
  return {
    group,
    state: "ok",
    since: windowEnd,
    value: null,
    previous_value: null,
    number_of_requests: 0,
    seen_at: windowEnd,
    is_notified: false,
    notified_at: null,
  };
}
