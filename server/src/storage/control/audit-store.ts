import type { Selectable } from "kysely";
import type { ActorType, AuditEntry } from "../../domain/audit.ts";
import type { CustomerKey } from "../../domain/customer.ts";
import type { Environment } from "../../domain/principal.ts";
import { storageLimits } from "../limits.ts";
import { likeText } from "./json-rows.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { AuditTable } from "./schema.ts";

/** Selects entries; an absent member matches all. Times are ISO 8601, UTC; `to` is exclusive. */
export type AuditFilter = {
  actor?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
};

export type AuditStore = {
  add: (entry: AuditEntry) => Promise<void>;
  /** A page, newest first, and the total count. */
  list: (
    uniqueOrganizationId: string,
    filter: AuditFilter,
    page: { page: number; pageSize: number },
  ) => Promise<{ count: number; entries: AuditEntry[] }>;
  /**
   * Replaces the name of a deleted customer by `target` in all entries about it or its name, and clears their changes.
   */
  unname: (customer: CustomerKey, target: string) => Promise<void>;
  /** Deletes entries older than `before`, and the oldest ones over `storageLimits.auditEntriesPerOrganization`. */
  deleteBefore: (uniqueOrganizationId: string, before: string) => Promise<void>;
};

export function createAuditStore(queries: ControlQueries): AuditStore {
  return {
    add: async ({ changes, ...entry }) => {
      await queries
        .insertInto("audit_log")
        .values({ ...entry, changes: JSON.stringify(changes) })
        .execute();
    },

    list: async (uniqueOrganizationId, filter, { page, pageSize }) => {
      const matching = select(queries, uniqueOrganizationId, filter);
      const { count } = await matching.select((column) => column.fn.countAll().as("count")).executeTakeFirstOrThrow();
      const rows = await matching
        .selectAll()
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .limit(pageSize)
        .offset((page - 1) * pageSize)
        .execute();
      return { count: Number(count), entries: rows.map(toEntry) };
    },

    unname: async ({ organization_id, environment, customer_identifier }, target) => {
      const named = JSON.stringify({ customer_identifier }).slice(1, -1);
      await queries
        .updateTable("audit_log")
        .set({ target, changes: "{}" })
        .where("unique_organization_id", "=", organization_id)
        .where("action", "in", ["create_customer", "update_customer", "delete_customer"])
        .where((row) => row.or([row("environment", "=", environment), row("environment", "is", null)]))
        .where((row) => row.or([row("target", "=", customer_identifier), row("changes", "like", likeText(named))]))
        .execute();
    },

    deleteBefore: async (uniqueOrganizationId, before) => {
      const surplus = await queries
        .selectFrom("audit_log")
        .select("created_at")
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .orderBy("created_at", "desc")
        .offset(storageLimits.auditEntriesPerOrganization)
        .limit(1)
        .executeTakeFirst();
      const oldest = surplus !== undefined && surplus.created_at >= before ? surplus.created_at : undefined;
      await queries
        .deleteFrom("audit_log")
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("created_at", oldest === undefined ? "<" : "<=", oldest ?? before)
        .execute();
    },
  };
}

function select(queries: ControlQueries, uniqueOrganizationId: string, filter: AuditFilter) {
  const { actor, action, target, from, to } = filter;
  return queries
    .selectFrom("audit_log")
    .where("unique_organization_id", "=", uniqueOrganizationId)
    .$if(actor !== undefined, (query) =>
      query.where((column) =>
        column.or([column("actor_id", "=", actor ?? ""), column("actor_name", "=", actor ?? "")]),
      ),
    )
    .$if(action !== undefined, (query) => query.where("action", "=", action ?? ""))
    .$if(target !== undefined, (query) => query.where("target", "=", target ?? ""))
    .$if(from !== undefined, (query) => query.where("created_at", ">=", from ?? ""))
    .$if(to !== undefined, (query) => query.where("created_at", "<", to ?? ""));
}

/** Safe because only `add` writes the table. */
function toEntry(row: Selectable<AuditTable>): AuditEntry {
  return {
    ...row,
    actor_type: row.actor_type as ActorType,
    environment: row.environment as Environment | null,
    changes: JSON.parse(row.changes) as Record<string, unknown>,
  };
}
