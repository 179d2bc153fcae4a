import { createHash, randomUUID } from "node:crypto";
import type { AlertEvent } from "../domain/alert-event.ts";
import type { AlertChange } from "../domain/alert-state.ts";
import {
  durationMs,
  type Alert,
  type AlertDefinition,
  type AlertEventType,
  type AlertHistoryEntry,
} from "../domain/alert.ts";
import { messageId, type WebhookEvent } from "../delivery/events.ts";
import { pick } from "../lib/pick.ts";
import { spansPath } from "./spans-link.ts";

export type EventContext = {
  windowEnd: string;
  /** The server's public URL; undefined if none is configured. */
  publicUrl: string | undefined;
  channels: ReadonlyArray<{ id: number }>;
};

/** The event that channels and webhooks receive about a change. */
export function webhookEvent(
  alert: Alert,
  change: AlertChange & { event: AlertEventType },
  context: EventContext,
): WebhookEvent {
  return {
    ...identityOf(alert, change, context),
    channels: context.channels,
    payload: alertEvent(alert, change, context),
  };
}

/** The same change in the same window yields the same event id. */
function identityOf(
  { id, unique_organization_id: organizationId, environment }: Alert,
  { status, event }: AlertChange & { event: AlertEventType },
  { windowEnd }: Pick<EventContext, "windowEnd">,
) {
  const group = createHash("sha256").update(JSON.stringify(status.group)).digest("base64url");
  return { type: event, organizationId, environment, id: `${id} ${windowEnd} ${group}` };
}

export function alertEvent(
  alert: Alert,
  { previous, status, event }: AlertChange & { event: AlertEventType },
  { windowEnd, publicUrl, isTest = false }: Pick<EventContext, "windowEnd" | "publicUrl"> & { isTest?: boolean },
): AlertEvent {
  const window = windowOf(alert, windowEnd);
  const customer = status.group["customer_identifier"];
  return {
    type: event,
    alert: { id: alert.id, name: alert.name, url: pageOf(alert, publicUrl) },
    ...pick(alert, "unique_organization_id", "environment", "metric", "window", "operator", "threshold"),
    change_percentage: alert.change_percentage,
    state: status.state,
    previous_state: previous,
    ...(typeof customer === "string" && { customer_identifier: customer }),
    ...pick(status, "group", "since", "value", "previous_value", "number_of_requests"),
    window_start: window.start,
    window_end: window.end,
    spans_url: (publicUrl ?? "") + spansPath(alert, status.group, window),
    is_test: isTest,
  };
}

function pageOf({ id, environment }: Alert, publicUrl: string | undefined): string | null {
  return publicUrl === undefined ? null : `${publicUrl}/alerts/${id}${environment === "test" ? "?env=test" : ""}`;
}

/** The history entry of a change. */
export function historyEntry(
  alert: Alert,
  change: AlertChange,
  { windowEnd, at }: { windowEnd: string; at: string },
): AlertHistoryEntry {
  const { status, event, previous } = change;
  const window = windowOf(alert, windowEnd);
  return {
    id: randomUUID(),
    ...ownerOf(alert),
    ...pick(status, "group", "state", "value", "previous_value", "number_of_requests"),
    previous_state: previous,
    event,
    event_id: event === null ? null : messageId(identityOf(alert, { ...change, event }, { windowEnd })),
    window_start: window.start,
    window_end: window.end,
    spans_path: spansPath(alert, status.group, window),
    error: null,
    created_at: at,
  };
}

export function errorEntry(alert: Alert, error: string, at: string): AlertHistoryEntry {
  const nothing = { group: null, state: null, previous_state: null, event: null, event_id: null, value: null };
  const window = { window_start: null, window_end: null, spans_path: null };
  const rest = { previous_value: null, number_of_requests: null, error, created_at: at };
  return { id: randomUUID(), ...ownerOf(alert), ...nothing, ...window, ...rest };
}

export function windowOf({ window }: Pick<AlertDefinition, "window">, end: string): { start: string; end: string } {
  return { start: new Date(Date.parse(end) - (durationMs(window) ?? 0)).toISOString(), end };
}

function ownerOf({ id, unique_organization_id, environment }: Alert) {
  return { alert_id: id, unique_organization_id, environment };
}
