import { sql } from "kysely";
import type { WebhookEventType } from "../../domain/webhook.ts";
import { likeText } from "./json-rows.ts";
import type { ControlQueries } from "./open-control-database.ts";

export type StoredPayload = { delivery_id: number; payload: string };
export type PayloadsOf = {
  organizationId: string;
  environment: string;
  /** Matches payloads that contain any of these texts. */
  containing: readonly string[];
  after: number;
  limit: number;
};
export type TracePayload = StoredPayload & { trace_unique_id: string; event_type: WebhookEventType };

/** Payloads that were or will be sent to webhooks: stored apart from the log, and for a shorter time. */
export type DeliveryPayloads = {
  /** Payloads of an organization's environment that contain the text, in pages by id. */
  listPayloads: (of: PayloadsOf) => Promise<{ payloads: StoredPayload[]; next: number | undefined }>;
  replacePayload: (payload: StoredPayload) => Promise<void>;
  /** Payloads of events about these traces, in pages by id. */
  listOfTraces: (of: {
    organizationId: string;
    environment: string;
    traceIds: readonly string[];
    after: number;
    limit: number;
  }) => Promise<TracePayload[]>;
  /** Deletes payloads and the responses of receivers. Pending deliveries fail with this reason. */
  dropPayloads: (deliveryIds: readonly number[], reason: string) => Promise<void>;
  /** Deletes payloads of deliveries that succeeded before that time, at most `limit`; returns how many. */
  dropDelivered: (before: string, limit: number) => Promise<number>;
  /**
   * Deletes payloads of a webhook's finished deliveries except the newest `keepBytes`, at most `limit`; returns how
   * many.
   */
  trimPayloads: (webhookId: number, keepBytes: number, limit: number) => Promise<number>;
};

export function createDeliveryPayloads(queries: ControlQueries): DeliveryPayloads {
  return { ...findMethods(queries), ...dropMethods(queries) };
}

function findMethods(
  queries: ControlQueries,
): Pick<DeliveryPayloads, "listPayloads" | "replacePayload" | "listOfTraces"> {
  return {
    listPayloads: async ({ organizationId, environment, containing, after, limit }) => {
      const deliveries = await queries
        .selectFrom("webhook_deliveries")
        .select("id")
        .where("unique_organization_id", "=", organizationId)
        .where("environment", "=", environment)
        .where("id", ">", after)
        .orderBy("id")
        .limit(limit)
        .execute();
      const ids = deliveries.map(({ id }) => id);
      const payloads = await queries
        .selectFrom("webhook_payloads")
        .selectAll()
        .where("delivery_id", "in", ids.length === 0 ? [-1] : ids)
        .where((payload) => payload.or(containing.map((text) => payload("payload", "like", likeText(text)))))
        .execute();
      return { payloads, next: ids.length === limit ? ids.at(-1) : undefined };
    },

    replacePayload: async ({ delivery_id, payload }) => {
      await queries.updateTable("webhook_payloads").set({ payload }).where("delivery_id", "=", delivery_id).execute();
      await queries
        .updateTable("webhook_deliveries")
        .set({ bytes: payload.length })
        .where("id", "=", delivery_id)
        .execute();
    },

    listOfTraces: async ({ organizationId, environment, traceIds, after, limit }) => {
      const rows = await queries
        .selectFrom("webhook_deliveries")
        .innerJoin("webhook_payloads", "webhook_payloads.delivery_id", "webhook_deliveries.id")
        .select(["delivery_id", "payload", "trace_unique_id", "event_type"])
        .where("unique_organization_id", "=", organizationId)
        .where("environment", "=", environment)
        .where("trace_unique_id", "in", traceIds)
        .where("webhook_deliveries.id", ">", after)
        .orderBy("webhook_deliveries.id")
        .limit(limit)
        .execute();
      return rows.map(asTracePayload);
    },
  };
}

function dropMethods(
  queries: ControlQueries,
): Pick<DeliveryPayloads, "dropPayloads" | "dropDelivered" | "trimPayloads"> {
  return {
    dropPayloads: async (deliveryIds, reason) => {
      if (deliveryIds.length === 0) return;
      await queries.deleteFrom("webhook_payloads").where("delivery_id", "in", deliveryIds).execute();
      await queries
        .updateTable("webhook_deliveries")
        .set({
          bytes: 0,
          response_body: null,
          status: sql<string>`case when next_attempt_at is null then status else 'failed' end`,
          error: sql<string>`case when next_attempt_at is null then error else ${reason} end`,
          next_attempt_at: null,
        })
        .where("id", "in", deliveryIds)
        .execute();
    },

    dropDelivered: async (before, limit) => {
      const old = queries
        .selectFrom("webhook_payloads")
        .innerJoin("webhook_deliveries", "webhook_deliveries.id", "webhook_payloads.delivery_id")
        .select("delivery_id")
        .where("status", "=", "delivered")
        .where("next_attempt_at", "is", null)
        .where("last_attempt_at", "<", before)
        .limit(limit);
      const { numDeletedRows } = await queries
        .deleteFrom("webhook_payloads")
        .where("delivery_id", "in", old)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },

    trimPayloads: async (webhookId, keepBytes, limit) => {
      const { numAffectedRows } = await sql`
        delete from webhook_payloads where delivery_id in (
          select id from (
            select id, sum(bytes) over (order by id desc) as newer
            from webhook_deliveries
            where webhook_id = ${webhookId} and next_attempt_at is null
              and exists (select 1 from webhook_payloads where webhook_payloads.delivery_id = webhook_deliveries.id)
          ) as finished
          where newer > ${keepBytes} limit ${limit}
        )`.execute(queries);
      return Number(numAffectedRows ?? 0n);
    },
  };
}

/** Safe because the query matches only events of traces, and only the queue writes the table. */
function asTracePayload(row: {
  delivery_id: number;
  payload: string;
  trace_unique_id: string | null;
  event_type: string;
}) {
  return row as TracePayload;
}
