import { pick } from "../lib/pick.ts";
import type { Environment } from "./principal.ts";

export const alertOperators = ["gt", "gte", "lt", "lte"] as const;
export type AlertOperator = (typeof alertOperators)[number];

export const alertStates = ["ok", "triggered", "no_data"] as const;
export type AlertState = (typeof alertStates)[number];

export const alertEventTypes = ["alert_triggered", "alert_resolved"] as const;
export type AlertEventType = (typeof alertEventTypes)[number];

export const alertChannelTypes = ["webhook", "slack", "email"] as const;
export type AlertChannelType = (typeof alertChannelTypes)[number];

/** What a rule watches and when it triggers. */
export type AlertDefinition = {
  /** Filter language, on spans as they were sent. */
  filters: Readonly<Record<string, unknown>>;
  /** A metric of spans, or `scores__<evaluator>`. */
  metric: string;
  /** A duration such as `5m`. */
  window: string;
  operator: AlertOperator;
  /** One of the two is null. */
  threshold: number | null;
  change_percentage: number | null;
  group_by: readonly string[];
  /** A window with fewer spans is `no_data`. */
  min_requests: number;
  /** After a group was reported as triggered, it is not reported again for this long. */
  cooldown: string;
};

/** Number of groups by state. */
export type AlertCounts = Record<AlertState, number>;

/** Times are ISO 8601, UTC. */
export type Alert = AlertDefinition & {
  id: string;
  unique_organization_id: string;
  environment: Environment;
  name: string;
  is_enabled: boolean;
  /** Rises with every change, so that the result of an evaluation that began before it is discarded. */
  revision: number;
  /** The end of the last window that was evaluated. */
  evaluated_until: string | null;
  /** When it is evaluated next; during an evaluation, when another node may take over. */
  next_evaluation_at: string;
  counts: AlertCounts;
  /** Why the last evaluation failed or was postponed; null if it succeeded. */
  last_error: string | null;
  last_error_at: string | null;
  created_at: string;
  updated_at: string;
};

/** The value of each `group_by` field; '' is the group without a value. */
export type AlertGroup = Readonly<Record<string, string | number | null>>;

/** The measurement of one group: in the window, and in the one before it. */
export type AlertMeasurement = {
  group: AlertGroup;
  /** Null if unknown. */
  value: number | null;
  number_of_requests: number;
  previous_value: number | null;
  previous_number_of_requests: number;
};

/** The stored state of one group. */
export type AlertGroupStatus = Omit<AlertMeasurement, "previous_number_of_requests"> & {
  state: AlertState;
  /** The end of the window since which it has this state. */
  since: string;
  /** The end of the last window in which it had spans. */
  seen_at: string;
  /** `alert_triggered` was sent, and `alert_resolved` was not yet. */
  is_notified: boolean;
  /** The end of the window of the last `alert_triggered`. */
  notified_at: string | null;
};

/** An entry of the history: a group that changed its state or was reported, or an error of the rule. */
export type AlertHistoryEntry = {
  /** Random, so that it does not count the entries of other organizations. */
  id: string;
  alert_id: string;
  unique_organization_id: string;
  environment: Environment;
  /** Null for an error. */
  group: AlertGroup | null;
  state: AlertState | null;
  previous_state: AlertState | null;
  event: AlertEventType | null;
  /** The id of the event that channels receive. */
  event_id: string | null;
  value: number | null;
  previous_value: number | null;
  number_of_requests: number | null;
  window_start: string | null;
  window_end: string | null;
  /** The list of the spans of the group and window. */
  spans_path: string | null;
  error: string | null;
  created_at: string;
};

export function definitionOf(alert: AlertDefinition): AlertDefinition {
  return pick(
    alert,
    "filters",
    "metric",
    "window",
    "operator",
    "threshold",
    "change_percentage",
    "group_by",
    "min_requests",
    "cooldown",
  );
}

/** The worst state of the groups; `no_data` if there are none. */
export function alertState({ ok, triggered }: AlertCounts): AlertState {
  if (triggered > 0) return "triggered";
  return ok > 0 ? "ok" : "no_data";
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `5m`, `12h` or `30d`; undefined if the text is not a duration. */
export function durationMs(text: string): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const ms = unitMs[unit];
  return ms === undefined ? undefined : Number(digits) * ms;
}

/** The encoded form of a customer in the filters of a link to spans. */
export function customerInLink(customerIdentifier: string): string {
  return new URLSearchParams({ value: JSON.stringify(customerIdentifier) }).toString().slice("value=".length);
}
