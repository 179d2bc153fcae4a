import { sql } from "kysely";
import type { Delivery, DeliveryStatus } from "../../domain/webhook.ts";
import { createDeliveryPayloads, type DeliveryPayloads } from "./delivery-payloads.ts";
import { jsonRows } from "./json-rows.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { WebhookDeliveryRow } from "./schema.ts";

export type NewDelivery = Pick<
  Delivery,
  | "webhook_id"
  | "unique_organization_id"
  | "environment"
  | "event_id"
  | "event_type"
  | "payload"
  | "created_at"
  | "expires_at"
> & {
  /** The trace that the event is about. Deleting the trace deletes the payload. */
  trace_unique_id?: string | null;
};

/** Without the payload: a page of the log must not take megabytes. */
export type LoggedDelivery = Omit<Delivery, "payload">;

/** The outcome of an attempt. `attempts` is that of the claimed row: an outcome of a lost claim changes nothing. */
export type DeliveryOutcome = {
  id: number;
  attempts: number;
  status: DeliveryStatus;
  /** Whether it counts as an attempt. */
  isAttempt: boolean;
  next_attempt_at: string | null;
  last_attempt_at: string | null;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
};

/**
 * The durable queue of webhooks and its log. Any number of nodes may work on it: a claim moves the time of the next
 * attempt to the end of the claim, so that a row is due again if its node dies. Times are ISO 8601, UTC.
 */
export type DeliveryStore = DeliveryPayloads & {
  /**
   * Adds deliveries, due immediately. Skips events that a webhook has already, and webhooks that were deleted meanwhile.
   * Call it in a transaction: it runs several statements.
   */
  add: (deliveries: readonly NewDelivery[]) => Promise<void>;
  /** The webhooks with pending deliveries, and the time when the first one is due. */
  queues: () => Promise<Array<{ webhook_id: number; next_attempt_at: string }>>;
  /** The pending deliveries of each webhook. */
  backlog: () => Promise<Array<{ webhook_id: number; rows: number; bytes: number }>>;
  /** Claims due deliveries until `until`, longest waiting first; no other claim gets them before. */
  claim: (webhookId: number, options: { now: string; until: string; limit: number }) => Promise<Delivery[]>;
  /** Stores all outcomes in one statement. */
  finish: (outcomes: readonly DeliveryOutcome[]) => Promise<void>;
  /** Fails the pending deliveries of a disabled webhook with its reason, at most `limit`; returns the bytes of each. */
  abandon: (webhookId: number, limit: number) => Promise<number[]>;
  /** Newest first. */
  list: (
    uniqueOrganizationId: string,
    webhookId: number,
    page: { page: number; pageSize: number },
  ) => Promise<{ count: number; rows: LoggedDelivery[] }>;
  /** The deliveries of these events to these webhooks. */
  ofEvents: (
    uniqueOrganizationId: string,
    webhookIds: readonly number[],
    eventIds: readonly string[],
  ) => Promise<LoggedDelivery[]>;
  /**
   * Makes a delivery due now, whatever its outcome; undefined if there is no such delivery, or its payload was deleted.
   */
  redeliver: (
    uniqueOrganizationId: string,
    webhookId: number,
    eventId: string,
    times: { now: string; expiresAt: string },
  ) => Promise<LoggedDelivery | undefined>;
  /** Deletes finished deliveries from before a time, at most `limit`; returns how many. */
  purge: (before: string, limit: number) => Promise<number>;
  /**
   * Deletes a webhook's finished deliveries from before a time, except the newest `keep`, at most `limit`; returns how
   * many.
   */
  trim: (webhookId: number, options: { keep: number; before: string; limit: number }) => Promise<number>;
};

export function createDeliveryStore(queries: ControlQueries): DeliveryStore {
  return { ...queueMethods(queries), ...logMethods(queries), ...createDeliveryPayloads(queries) };
}

// Fourteen values per row; SQLite binds at most 32,766.
const rowsPerInsert = 1_000;

function queueMethods(
  queries: ControlQueries,
): Pick<DeliveryStore, "add" | "queues" | "backlog" | "claim" | "finish" | "abandon"> {
  return {
    add: async (deliveries) => {
      for (let start = 0; start < deliveries.length; start += rowsPerInsert) {
        const some = await toExisting(queries, deliveries.slice(start, start + rowsPerInsert));
        if (some.length === 0) continue;
        const added = await queries
          .insertInto("webhook_deliveries")
          .values(some.map(newRow))
          .onConflict((conflict) => conflict.columns(["webhook_id", "event_id"]).doNothing())
          .returning(["id", "webhook_id", "event_id"])
          .execute();
        const payloads = new Map(some.map((delivery) => [keyOf(delivery), delivery.payload]));
        const rows = added.map((row) => ({ delivery_id: row.id, payload: payloads.get(keyOf(row)) ?? "" }));
        if (rows.length > 0) await queries.insertInto("webhook_payloads").values(rows).execute();
      }
    },

    queues: async () => {
      // Jumps from webhook to webhook in the index: one step per webhook, however many deliveries are pending.
      const { rows } = await sql<{ webhook_id: number; next_attempt_at: string }>`
        with recursive waiting(id) as (
          select (select min(webhook_id) from webhook_deliveries where next_attempt_at is not null)
          union all
          select (select min(webhook_id) from webhook_deliveries
                  where next_attempt_at is not null and webhook_id > waiting.id)
          from waiting where waiting.id is not null
        )
        select waiting.id as webhook_id,
               (select min(next_attempt_at) from webhook_deliveries
                where webhook_id = waiting.id and next_attempt_at is not null) as next_attempt_at
        from waiting where waiting.id is not null`.execute(queries);
      return rows;
    },

    backlog: async () => {
      const rows = await queries
        .selectFrom("webhook_deliveries")
        .select((row) => ["webhook_id", row.fn.countAll().as("rows"), row.fn.sum("bytes").as("bytes")])
        .where("next_attempt_at", "is not", null)
        .groupBy("webhook_id")
        .execute();
      return rows.map(({ webhook_id, rows, bytes }) => ({ webhook_id, rows: Number(rows), bytes: Number(bytes) }));
    },

    claim: async (webhookId, { now, until, limit }) => {
      const rows = await queries
        .updateTable("webhook_deliveries")
        .set({ next_attempt_at: until })
        .where("id", "in", (due) =>
          due
            .selectFrom("webhook_deliveries")
            .select("id")
            .where("webhook_id", "=", webhookId)
            .where("next_attempt_at", "<=", now)
            .orderBy("next_attempt_at")
            .limit(limit),
        )
        // Repeated because another claim may come in between: after waiting for a row, Postgres checks this condition
        // again.
        .where("next_attempt_at", "<=", now)
        .returning(loggedColumns)
        .execute();
      return await withPayloads(queries, rows.map(toLogged));
    },

    finish: async (outcomes) => {
      if (outcomes.length > 0) await finish(queries, outcomes);
    },

    abandon: async (webhookId, limit) => {
      const { rows } = await sql<{ bytes: number }>`
        update webhook_deliveries set
          status = 'failed',
          next_attempt_at = null,
          error = (select 'the webhook was switched off' || coalesce(': ' || disabled_reason, '')
                   from webhooks where webhooks.id = ${webhookId})
        where id in (select id from webhook_deliveries
                     where webhook_id = ${webhookId} and next_attempt_at is not null limit ${limit})
          and next_attempt_at is not null
          and exists (select 1 from webhooks where webhooks.id = ${webhookId} and active = 0)
        returning bytes`.execute(queries);
      return rows.map(({ bytes }) => bytes);
    },
  };
}

/** Nodes learn with a delay which webhooks were deleted. */
async function toExisting(queries: ControlQueries, deliveries: readonly NewDelivery[]): Promise<NewDelivery[]> {
  const ids = [...new Set(deliveries.map(({ webhook_id }) => webhook_id))];
  const found = await queries.selectFrom("webhooks").select("id").where("id", "in", ids).execute();
  const existing = new Set(found.map(({ id }) => id));
  return deliveries.filter(({ webhook_id }) => existing.has(webhook_id));
}

async function finish(queries: ControlQueries, outcomes: readonly DeliveryOutcome[]): Promise<void> {
  const rows = outcomes.map((each) => [
    each.id,
    each.attempts,
    each.status,
    each.isAttempt ? 1 : 0,
    each.next_attempt_at,
    each.last_attempt_at,
    each.response_status,
    each.response_body,
    each.error,
  ]);
  await sql`
    update webhook_deliveries set
      status = outcome.value ->> 2,
      attempts = webhook_deliveries.attempts + cast(outcome.value ->> 3 as integer),
      next_attempt_at = outcome.value ->> 4,
      last_attempt_at = outcome.value ->> 5,
      response_status = cast(outcome.value ->> 6 as integer),
      response_body = outcome.value ->> 7,
      error = outcome.value ->> 8
    from json_each(${jsonRows(rows)}) as outcome
    where webhook_deliveries.id = cast(outcome.value ->> 0 as integer)
      and webhook_deliveries.attempts = cast(outcome.value ->> 1 as integer)
      -- One that was abandoned meanwhile may have arrived all the same.
      and (webhook_deliveries.next_attempt_at is not null
           or (webhook_deliveries.status = 'failed' and outcome.value ->> 2 = 'delivered'))`.execute(queries);
}

function logMethods(
  queries: ControlQueries,
): Pick<DeliveryStore, "list" | "ofEvents" | "redeliver" | "purge" | "trim"> {
  const finished = () => queries.selectFrom("webhook_deliveries").select("id").where("next_attempt_at", "is", null);

  return {
    list: async (uniqueOrganizationId, webhookId, { page, pageSize }) => {
      const mine = queries
        .selectFrom("webhook_deliveries")
        .where("webhook_id", "=", webhookId)
        .where("unique_organization_id", "=", uniqueOrganizationId);
      const { count } = await mine.select((row) => row.fn.countAll().as("count")).executeTakeFirstOrThrow();
      const rows = await mine
        .select(loggedColumns)
        .orderBy("id", "desc")
        .limit(pageSize)
        .offset((page - 1) * pageSize)
        .execute();
      return { count: Number(count), rows: rows.map(toLogged) };
    },

    ofEvents: async (uniqueOrganizationId, webhookIds, eventIds) => {
      if (webhookIds.length === 0 || eventIds.length === 0) return [];
      const rows = await queries
        .selectFrom("webhook_deliveries")
        .select(loggedColumns)
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("webhook_id", "in", webhookIds)
        .where("event_id", "in", eventIds)
        .execute();
      return rows.map(toLogged);
    },

    redeliver: async (uniqueOrganizationId, webhookId, eventId, { now, expiresAt }) => {
      const row = await queries
        .updateTable("webhook_deliveries")
        .set({ status: "pending", attempts: 0, next_attempt_at: now, expires_at: expiresAt, error: null })
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("webhook_id", "=", webhookId)
        .where("event_id", "=", eventId)
        .where((row) =>
          row.exists(
            row
              .selectFrom("webhook_payloads")
              .select("delivery_id")
              .whereRef("webhook_payloads.delivery_id", "=", "webhook_deliveries.id"),
          ),
        )
        .returning(loggedColumns)
        .executeTakeFirst();
      return row && toLogged(row);
    },

    purge: async (before, limit) => {
      const old = finished().where("created_at", "<", before).limit(limit);
      const { numDeletedRows } = await queries
        .deleteFrom("webhook_deliveries")
        .where("id", "in", old)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },

    trim: async (webhookId, { keep, before, limit }) => {
      const oldestRetained = await finished()
        .where("webhook_id", "=", webhookId)
        .orderBy("id", "desc")
        .limit(1)
        .offset(keep)
        .executeTakeFirst();
      if (oldestRetained === undefined) return 0;
      const surplus = finished()
        .where("webhook_id", "=", webhookId)
        .where("id", "<=", oldestRetained.id)
        .where("created_at", "<", before)
        .orderBy("id")
        .limit(limit);
      const { numDeletedRows } = await queries
        .deleteFrom("webhook_deliveries")
        .where("id", "in", surplus)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },
  };
}

/** Skips rows without a payload: they were deleted meanwhile. */
async function withPayloads(queries: ControlQueries, deliveries: readonly LoggedDelivery[]): Promise<Delivery[]> {
  if (deliveries.length === 0) return [];
  const rows = await queries
    .selectFrom("webhook_payloads")
    .selectAll()
    .where(
      "delivery_id",
      "in",
      deliveries.map(({ id }) => id),
    )
    .execute();
  const payloads = new Map(rows.map(({ delivery_id, payload }) => [delivery_id, payload]));
  return deliveries.flatMap((delivery) => {
    const payload = payloads.get(delivery.id);
    return payload === undefined ? [] : [Object.assign(delivery, { payload })];
  });
}

function newRow({ payload, ...delivery }: NewDelivery) {
  const next_attempt_at = delivery.created_at;
  return { ...delivery, bytes: payload.length, status: "pending", attempts: 0, next_attempt_at };
}

function keyOf({ webhook_id, event_id }: Pick<Delivery, "webhook_id" | "event_id">): string {
  return `${webhook_id} ${event_id}`;
}

const loggedColumns = [
  "id",
  "webhook_id",
  "unique_organization_id",
  "environment",
  "event_id",
  "event_type",
  "status",
  "attempts",
  "next_attempt_at",
  "expires_at",
  "created_at",
  "last_attempt_at",
  "response_status",
  "response_body",
  "error",
] as const satisfies ReadonlyArray<keyof LoggedDelivery>;

/**
 * Safe because only this store writes the table, from values of these types. Does not copy, because very many rows pass
 * here.
 */
function toLogged(row: Omit<WebhookDeliveryRow, "bytes" | "trace_unique_id">): LoggedDelivery {
  return row as LoggedDelivery;
}
