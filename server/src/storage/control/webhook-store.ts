import { sql } from "kysely";
import { ServiceError } from "../../domain/errors.ts";
import type { Environment } from "../../domain/principal.ts";
import type { Webhook, WebhookEventType } from "../../domain/webhook.ts";
import { storageLimits } from "../limits.ts";
import { withDrawnId } from "./drawn-id.ts";
import { withOrganizationLock } from "./lock-organization.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { WebhookRow } from "./schema.ts";

export type NewWebhook = Pick<
  Webhook,
  | "unique_organization_id"
  | "environment"
  | "organization_key"
  | "name"
  | "url"
  | "event_type"
  | "active"
  | "legacy_signatures"
  | "secret"
  | "created_at"
> &
  Partial<Pick<Webhook, "channel" | "alert_id">>;

export type WebhookChanges = Partial<
  Pick<Webhook, "organization_key" | "name" | "url" | "event_type" | "active" | "legacy_signatures" | "secret">
>;

/**
 * Webhooks, and the channels of alert rules beside them. Times are ISO 8601, UTC. Methods for callers name their
 * organization; the others are for delivery.
 */
export type WebhookStore = {
  /** Throws `conflict` if the organization has as many as `limits.ts` allows. */
  create: (webhook: NewWebhook) => Promise<Webhook>;
  /** Oldest first, without channels of alert rules. */
  list: (uniqueOrganizationId: string) => Promise<Webhook[]>;
  /** The channels of these alert rules, oldest first. */
  listChannels: (uniqueOrganizationId: string, alertIds: readonly string[]) => Promise<Webhook[]>;
  /** Does not find channels of alert rules. */
  find: (uniqueOrganizationId: string, id: number) => Promise<Webhook | undefined>;
  /** Another address, or switching it on, resets its history of failures. */
  update: (
    uniqueOrganizationId: string,
    id: number,
    changes: WebhookChanges,
    now: string,
  ) => Promise<Webhook | undefined>;
  /** Replaces the secret; the one before remains as the previous secret until `previousUntil`. */
  rotate: (
    uniqueOrganizationId: string,
    id: number,
    to: { secret: string; previousUntil: string; now: string },
  ) => Promise<Webhook | undefined>;
  /** Also deletes its deliveries, in batches: very many may be pending. */
  delete: (uniqueOrganizationId: string, id: number) => Promise<boolean>;

  /** The active webhooks of all organizations. */
  listActive: () => Promise<Webhook[]>;
  /** Records a failed delivery. Returns the time since which all have failed. */
  noteFailure: (id: number, now: string) => Promise<string | undefined>;
  noteSuccess: (id: number) => Promise<void>;
  /** Disables it, unless it is disabled already or was changed since it was read. Whether it did. */
  disable: (webhook: Pick<Webhook, "id" | "updated_at">, reason: string, now: string) => Promise<boolean>;
  noteSkipped: (id: number, events: number) => Promise<void>;
};

const deliveriesPerDelete = 1_000;

export function createWebhookStore(queries: ControlQueries): WebhookStore {
  return {
    create: (webhook) => {
      const { unique_organization_id, alert_id } = webhook;
      if (alert_id !== undefined) return insertWebhook(queries, webhook);
      return withOrganizationLock(queries, unique_organization_id, async (locked) => {
        await requireRoom(locked, unique_organization_id);
        return await insertWebhook(locked, webhook);
      });
    },

    find: async (uniqueOrganizationId, id) => {
      const row = await queries
        .selectFrom("webhooks")
        .selectAll()
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .where("alert_id", "is", null)
        .executeTakeFirst();
      return row && toWebhook(row);
    },

    update: async (uniqueOrganizationId, id, { active, legacy_signatures, ...changes }, now) => {
      const row = await queries
        .updateTable("webhooks")
        .set({
          ...changes,
          ...(active !== undefined && { active: active ? 1 : 0 }),
          // By the row, and not by what was read of it: it may be switched off at the same moment.
          ...(active === true && { disabled_at: null, disabled_reason: null }),
          failing_since: sql<string | null>`case when ${active === true ? 1 : 0} > active
            or ${changes.url ?? null} <> url then null else failing_since end`,
          ...(legacy_signatures !== undefined && { legacy_signatures: legacy_signatures ? 1 : 0 }),
          updated_at: now,
        })
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      return row && toWebhook(row);
    },

    rotate: async (uniqueOrganizationId, id, { secret, previousUntil, now }) => {
      const row = await queries
        .updateTable("webhooks")
        // Two rotations at the same moment each replace the secret of the other: neither is lost.
        .set((column) => ({
          secret,
          previous_secret: column.ref("secret"),
          previous_secret_until: previousUntil,
          updated_at: now,
        }))
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      return row && toWebhook(row);
    },

    delete: async (uniqueOrganizationId, id) => {
      const stopped = await queries
        .updateTable("webhooks")
        .set({ active: 0 })
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .returning("id")
        .executeTakeFirst();
      if (stopped === undefined) return false;
      await deleteDeliveries(queries, id);
      await queries.deleteFrom("webhooks").where("id", "=", id).execute();
      return true;
    },

    ...listMethods(queries),
    ...deliveryMethods(queries),
  };
}

function listMethods(queries: ControlQueries): Pick<WebhookStore, "list" | "listChannels"> {
  const inOrder = (uniqueOrganizationId: string) =>
    queries
      .selectFrom("webhooks")
      .selectAll()
      .where("unique_organization_id", "=", uniqueOrganizationId)
      .orderBy("created_at")
      .orderBy("id");
  return {
    list: async (uniqueOrganizationId) => {
      const rows = await inOrder(uniqueOrganizationId).where("alert_id", "is", null).execute();
      return rows.map(toWebhook);
    },

    listChannels: async (uniqueOrganizationId, alertIds) => {
      if (alertIds.length === 0) return [];
      const rows = await inOrder(uniqueOrganizationId).where("alert_id", "in", alertIds).execute();
      return rows.map(toWebhook);
    },
  };
}

function deliveryMethods(
  queries: ControlQueries,
): Pick<WebhookStore, "listActive" | "noteFailure" | "noteSuccess" | "disable" | "noteSkipped"> {
  return {
    listActive: async () => {
      const rows = await queries.selectFrom("webhooks").selectAll().where("active", "=", 1).orderBy("id").execute();
      return rows.map(toWebhook);
    },

    noteFailure: async (id, now) => {
      const row = await queries
        .updateTable("webhooks")
        .set({ failing_since: sql<string>`coalesce(failing_since, ${now})` })
        .where("id", "=", id)
        .returning("failing_since")
        .executeTakeFirst();
      return row?.failing_since ?? undefined;
    },

    noteSuccess: async (id) => {
      await queries
        .updateTable("webhooks")
        .set({ failing_since: null })
        .where("id", "=", id)
        .where("failing_since", "is not", null)
        .execute();
    },

    disable: async ({ id, updated_at }, reason, now) => {
      const row = await queries
        .updateTable("webhooks")
        .set({ active: 0, disabled_reason: reason, disabled_at: now, updated_at: now })
        .where("id", "=", id)
        .where("active", "=", 1)
        .where("updated_at", "=", updated_at)
        .returning("id")
        .executeTakeFirst();
      return row !== undefined;
    },

    noteSkipped: async (id, events) => {
      await queries
        .updateTable("webhooks")
        .set((row) => ({ skipped_events: row("skipped_events", "+", events) }))
        .where("id", "=", id)
        .execute();
    },
  };
}

async function deleteDeliveries(queries: ControlQueries, webhookId: number): Promise<void> {
  for (;;) {
    const { numDeletedRows } = await queries
      .deleteFrom("webhook_deliveries")
      .where("id", "in", (rows) =>
        rows
          .selectFrom("webhook_deliveries")
          .select("id")
          .where("webhook_id", "=", webhookId)
          .orderBy("id")
          .limit(deliveriesPerDelete),
      )
      .executeTakeFirstOrThrow();
    if (numDeletedRows < deliveriesPerDelete) return;
  }
}

async function insertWebhook(queries: ControlQueries, webhook: NewWebhook): Promise<Webhook> {
  const { active, legacy_signatures, ...fields } = webhook;
  const flags = { active: active ? 1 : 0, legacy_signatures: legacy_signatures ? 1 : 0 };
  const row = await withDrawnId((id) =>
    queries
      .insertInto("webhooks")
      .values({ id, ...fields, ...flags, skipped_events: 0, updated_at: webhook.created_at })
      .onConflict((conflict) => conflict.column("id").doNothing())
      .returningAll()
      .executeTakeFirst(),
  );
  if (row === undefined) throw new ServiceError("unavailable", "No id is free. Try again.", { retryAfterS: 1 });
  return toWebhook(row);
}

async function requireRoom(queries: ControlQueries, uniqueOrganizationId: string): Promise<void> {
  const { count } = await queries
    .selectFrom("webhooks")
    .select((row) => row.fn.countAll().as("count"))
    .where("unique_organization_id", "=", uniqueOrganizationId)
    .where("alert_id", "is", null)
    .executeTakeFirstOrThrow();
  const max = storageLimits.webhooksPerOrganization;
  if (Number(count) >= max) throw new ServiceError("conflict", `There are ${max} webhooks already; delete some first.`);
}

/** Safe because only this store writes the table, from values of these types. */
function toWebhook(row: WebhookRow): Webhook {
  return {
    ...row,
    environment: row.environment as Environment | null,
    event_type: row.event_type as WebhookEventType,
    channel: row.channel as Webhook["channel"],
    active: row.active === 1,
    legacy_signatures: row.legacy_signatures === 1,
  };
}
