import type { z } from "zod";
import { alertState, type Alert, type AlertGroupStatus, type AlertState } from "../../domain/alert.ts";
import type { Webhook } from "../../domain/webhook.ts";
import { windowOf } from "../../alerts/alert-events.ts";
import type { DefinitionDeps } from "../../alerts/read-definition.ts";
import { spansPath } from "../../alerts/spans-link.ts";
import type { Attempt } from "../../delivery/attempt.ts";
import type { WebhookDirectory } from "../../delivery/webhook-directory.ts";
import type { WebhookSecrets } from "../../delivery/webhook-secrets.ts";
import { requireOwnEnvironment, type Principal } from "../../domain/principal.ts";
import { omit } from "../../lib/omit.ts";
import { pick } from "../../lib/pick.ts";
import { apiLimits } from "../limits.ts";
import type { AlertStatuses } from "../../storage/control/alert-store.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import type { RefusalOf } from "../../outgoing/refused-address.ts";
import { alertNotFound, type alertSchema, type alertWithStatesSchema } from "./alert-schemas.ts";
import { presentChannel } from "./channel-schemas.ts";

/** Shared dependencies of the operations on alerts. */
export type AlertDeps = DefinitionDeps & {
  stores: ControlStores;
  webhookSecrets: WebhookSecrets;
  webhookDirectory: Pick<WebhookDirectory, "refresh">;
  attempt: Attempt;
  hasMail: boolean;
  publicUrl: string | undefined;
  refusalOf: RefusalOf;
  nowMs: () => number;
};

/** @throws ServiceError `not_found` */
export async function findAlert(
  { stores }: Pick<AlertDeps, "stores">,
  uniqueOrganizationId: string,
  id: string,
): Promise<Alert> {
  const alert = await stores.alerts.find(uniqueOrganizationId, id);
  if (alert === undefined) throw alertNotFound();
  return alert;
}

/** The same for an alert that the caller changes or tests. @throws ServiceError `not_found`, `forbidden` */
export async function findOwnAlert(deps: Pick<AlertDeps, "stores">, principal: Principal, id: string): Promise<Alert> {
  const alert = await findAlert(deps, principal.organization_id, id);
  requireOwnEnvironment(principal, alert.environment, "this alert");
  return alert;
}

/** @param secrets the secrets of channels that were just created, by channel id */
export function presentAlert(
  alert: Alert,
  channels: readonly Webhook[],
  refusalOf: RefusalOf,
  secrets: ReadonlyMap<number, string> = new Map(),
): z.input<typeof alertSchema> {
  return {
    ...omit(alert, "unique_organization_id", "revision", "next_evaluation_at", "counts"),
    group_by: alert.group_by.length === 0 ? null : alert.group_by.join(","),
    channels: channels
      .filter(({ alert_id }) => alert_id === alert.id)
      .map((channel) => presentChannel(channel, refusalOf, secrets.get(channel.id))),
    state: alertState(alert.counts),
    group_counts: alert.counts,
  };
}

/** Includes the stored states of the alert's groups. */
export async function describeAlert(
  { stores, refusalOf }: Pick<AlertDeps, "stores" | "refusalOf">,
  alert: Alert,
  url: URL,
  secrets?: ReadonlyMap<number, string>,
): Promise<z.input<typeof alertWithStatesSchema>> {
  const channels = await stores.webhooks.listChannels(alert.unique_organization_id, [alert.id]);
  const stored = await stores.alerts.statuses(alert.id);
  const shown = (stored?.statuses ?? []).toSorted(triggeredFirst).slice(0, apiLimits.alertGroupsShown);
  const states = stored === undefined ? [] : shown.map((status) => presentStatus(alert, stored, status, url));
  return { ...presentAlert(alert, channels, refusalOf, secrets), states };
}

function presentStatus(
  { environment }: Alert,
  { definition, window_end }: Omit<AlertStatuses, "statuses">,
  status: AlertGroupStatus,
  url: URL,
) {
  const { start, end } = windowOf(definition, window_end);
  const path = spansPath({ environment, filters: definition.filters }, status.group, { start, end });
  return {
    ...pick(status, "group", "state", "since", "value", "previous_value", "number_of_requests"),
    window_start: start,
    window_end: end,
    spans_url: absolute(path, url),
  };
}

/** The absolute URL of a path of this server, for the caller of `url`, which is under `/api/alerts`. */
export function absolute(path: string, { href }: URL): string {
  return href.slice(0, href.indexOf("/api/alerts")) + path;
}

const places: Readonly<Record<AlertState, number>> = { triggered: 0, ok: 1, no_data: 2 };

function triggeredFirst(a: AlertGroupStatus, b: AlertGroupStatus): number {
  return places[a.state] - places[b.state];
}
