import { hash } from "node:crypto";
import { sql } from "kysely";
import {
  definitionOf,
  durationMs,
  type Alert,
  type AlertDefinition,
  type AlertGroupStatus,
  type AlertHistoryEntry,
} from "../../domain/alert.ts";
import type { CustomerKey } from "../../domain/customer.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { Environment } from "../../domain/principal.ts";
import { pick } from "../../lib/pick.ts";
import { storageLimits } from "../limits.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { AlertTable } from "./alert-tables.ts";
import { eraseCustomerInAlerts } from "./erase-customer-in-alerts.ts";

export type NewAlert = Omit<
  Alert,
  "revision" | "evaluated_until" | "next_evaluation_at" | "counts" | "last_error" | "last_error_at" | "updated_at"
>;
export type AlertChanges = Pick<Alert, "name" | "is_enabled" | "evaluated_until"> & { definition: AlertDefinition };

/** With the definition that they result from, and the end of their window. */
export type AlertStatuses = { definition: AlertDefinition; window_end: string; statuses: AlertGroupStatus[] };

/** The result of an evaluation. `revision` is that of the evaluated rule. */
export type AlertResult = AlertStatuses & Pick<Alert, "id" | "revision" | "counts" | "next_evaluation_at">;

/**
 * Alert rules. Any number of nodes may evaluate them: a claim moves the time of the next evaluation to the end of the
 * claim, so that a rule is due again if its node dies, and each window is finished once. Times are ISO 8601, UTC.
 */
export type AlertStore = {
  /** Due immediately. Throws `conflict` if the organization has as many as `limits.ts` allows. */
  create: (alert: NewAlert) => Promise<Alert>;
  /** Newest first; at most `storageLimits.alertsPerOrganization`. */
  list: (uniqueOrganizationId: string) => Promise<Alert[]>;
  find: (uniqueOrganizationId: string, id: string) => Promise<Alert | undefined>;
  /** Due immediately. */
  update: (uniqueOrganizationId: string, id: string, changes: AlertChanges, now: string) => Promise<Alert | undefined>;
  /** Also removes its states and history. */
  remove: (uniqueOrganizationId: string, id: string) => Promise<boolean>;
  /** The states of its groups; undefined before the first evaluation. */
  statuses: (id: string) => Promise<AlertStatuses | undefined>;

  /**
   * Claims until `until` the enabled rule that has been due longest, with all due rules that are measured together with
   * it. Skips the organizations in `except` and blocked ones. Empty if no rule is due, or another node claimed it at
   * the same moment.
   */
  claim: (options: { now: string; until: string; except: readonly string[] }) => Promise<Alert[]>;
  /** Stores a result; false if this window was finished before, or the rule has changed since. */
  finish: (result: AlertResult) => Promise<boolean>;
  /** Records why it could not be evaluated, and when to retry; returns whether the error is new. */
  putOff: (
    alert: Pick<Alert, "id" | "revision">,
    failure: { error: string; at: string; next_evaluation_at: string },
  ) => Promise<boolean>;
  /** Makes a claimed rule due again immediately. */
  release: (alert: Pick<Alert, "id" | "revision">, now: string) => Promise<void>;
  /** Records a test; false if the last one was after `since`. */
  noteTest: (id: string, times: { now: string; since: string }) => Promise<boolean>;

  /** Adds entries of one rule; retains its newest `storageLimits.alertHistoryRows`. */
  addHistory: (entries: readonly AlertHistoryEntry[]) => Promise<void>;
  /** Newest first. */
  history: (
    uniqueOrganizationId: string,
    id: string,
    page: { page: number; pageSize: number },
  ) => Promise<{ count: number; rows: AlertHistoryEntry[] }>;
  /** Deletes at most `limit` entries from before a time; returns how many. */
  purgeHistory: (before: string, limit: number) => Promise<number>;
  /**
   * Removes a customer from states and histories, links included. Rules whose filters name the customer stay as they
   * were written.
   */
  eraseCustomer: (key: CustomerKey) => Promise<void>;
};

export function createAlertStore(queries: ControlQueries): AlertStore {
  return { ...ruleMethods(queries), ...evaluationMethods(queries), ...historyMethods(queries) };
}

function ruleMethods(
  queries: ControlQueries,
): Pick<AlertStore, "create" | "list" | "find" | "update" | "remove" | "statuses"> {
  const select = (uniqueOrganizationId: string) =>
    queries.selectFrom("alerts").selectAll().where("unique_organization_id", "=", uniqueOrganizationId);
  return {
    create: async (alert) => {
      await makeRoom(queries, alert.unique_organization_id);
      const { id, unique_organization_id, environment, name, created_at } = alert;
      const row = await queries
        .insertInto("alerts")
        .values({
          id,
          unique_organization_id,
          environment,
          name,
          created_at,
          is_enabled: alert.is_enabled ? 1 : 0,
          definition: JSON.stringify(definitionOf(alert)),
          measured_with: measuredWith(alert, alert),
          revision: 1,
          next_evaluation_at: created_at,
          counts: JSON.stringify(noCounts),
          updated_at: created_at,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return toAlert(row);
    },

    list: async (uniqueOrganizationId) => {
      const rows = await select(uniqueOrganizationId).orderBy("created_at", "desc").orderBy("id").execute();
      return rows.map(toAlert);
    },

    find: async (uniqueOrganizationId, id) => {
      const row = await select(uniqueOrganizationId).where("id", "=", id).executeTakeFirst();
      return row && toAlert(row);
    },

    update: async (uniqueOrganizationId, id, { name, is_enabled, evaluated_until, definition }, now) => {
      const known = await select(uniqueOrganizationId).where("id", "=", id).executeTakeFirst();
      if (known === undefined) return undefined;
      const row = await queries
        .updateTable("alerts")
        .set((alert) => ({
          name,
          // The environment of a rule never changes.
          measured_with: measuredWith(known, definition),
          evaluated_until,
          is_enabled: is_enabled ? 1 : 0,
          definition: JSON.stringify(definition),
          revision: alert("revision", "+", 1),
          next_evaluation_at: now,
          updated_at: now,
          last_error: null,
          last_error_at: null,
        }))
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      return row && toAlert(row);
    },

    remove: async (uniqueOrganizationId, id) => {
      const { numDeletedRows } = await queries
        .deleteFrom("alerts")
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      return numDeletedRows > 0;
    },

    statuses: async (id) => {
      const row = await queries.selectFrom("alert_statuses").selectAll().where("alert_id", "=", id).executeTakeFirst();
      if (row === undefined) return undefined;
      const { definition, window_end, statuses } = row;
      return { definition: asDefinition(definition), window_end, statuses: asStatuses(statuses) };
    },
  };
}

function evaluationMethods(
  queries: ControlQueries,
): Pick<AlertStore, "claim" | "finish" | "putOff" | "release" | "noteTest"> {
  const update = ({ id, revision }: Pick<Alert, "id" | "revision">) =>
    queries.updateTable("alerts").where("id", "=", id).where("revision", "=", revision).where("is_enabled", "=", 1);
  return {
    claim: async ({ now, until, except }) => {
      const rows = await queries
        .updateTable("alerts")
        .set({ next_evaluation_at: until })
        .where("measured_with", "in", (due) =>
          due
            .selectFrom("alerts")
            .innerJoin("organizations", "organizations.unique_organization_id", "alerts.unique_organization_id")
            .select("measured_with")
            .where("blocked_at", "is", null)
            .where("is_enabled", "=", 1)
            .where("next_evaluation_at", "<=", now)
            .where("alerts.unique_organization_id", "not in", except.length === 0 ? [""] : except)
            .orderBy("next_evaluation_at")
            .limit(1),
        )
        // Repeated because another claim may come in between: after waiting for the row, Postgres checks these
        // conditions again.
        .where("next_evaluation_at", "<=", now)
        .where("is_enabled", "=", 1)
        .returningAll()
        .execute();
      return rows.map(toAlert);
    },

    finish: async ({ window_end, next_evaluation_at, counts, definition, statuses, ...alert }) => {
      const finished = await update(alert)
        .set({
          evaluated_until: window_end,
          next_evaluation_at,
          last_error: null,
          last_error_at: null,
          counts: JSON.stringify(counts),
        })
        .where((row) => row.or([row("evaluated_until", "is", null), row("evaluated_until", "<", window_end)]))
        .returning("id")
        .executeTakeFirst();
      if (finished === undefined) return false;
      const values = { definition: JSON.stringify(definition), window_end, statuses: JSON.stringify(statuses) };
      await queries
        .insertInto("alert_statuses")
        .values({ alert_id: alert.id, ...values })
        .onConflict((conflict) => conflict.column("alert_id").doUpdateSet(values))
        .execute();
      return true;
    },

    putOff: async (alert, { error, at, next_evaluation_at }) => {
      const isNew = await update(alert)
        .set({ next_evaluation_at, last_error: error, last_error_at: at })
        .where(sql<boolean>`coalesce(last_error, '') <> ${error}`)
        .returning("id")
        .executeTakeFirst();
      if (isNew !== undefined) return true;
      await update(alert).set({ next_evaluation_at }).execute();
      return false;
    },

    release: async (alert, now) => {
      await update(alert).set({ next_evaluation_at: now }).execute();
    },

    noteTest: async (id, { now, since }) => {
      const row = await queries
        .updateTable("alerts")
        .set({ tested_at: now })
        .where("id", "=", id)
        .where((alert) => alert.or([alert("tested_at", "is", null), alert("tested_at", "<=", since)]))
        .returning("id")
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}

function historyMethods(
  queries: ControlQueries,
): Pick<AlertStore, "addHistory" | "history" | "purgeHistory" | "eraseCustomer"> {
  return {
    addHistory: async (entries) => {
      const rows = entries.map((entry) => {
        const customer = entry.group?.["customer_identifier"];
        return {
          ...pick(entry, "alert_id", "unique_organization_id", "environment", "event_id", "created_at"),
          customer_identifier: typeof customer === "string" ? customer : null,
          entry: JSON.stringify(entry),
        };
      });
      for (let start = 0; start < rows.length; start += rowsPerInsert) {
        await queries
          .insertInto("alert_history")
          .values(rows.slice(start, start + rowsPerInsert))
          .execute();
      }
      for (const id of new Set(rows.map(({ alert_id }) => alert_id))) await trimHistory(queries, id);
    },

    history: async (uniqueOrganizationId, id, { page, pageSize }) => {
      const mine = queries
        .selectFrom("alert_history")
        .where("alert_id", "=", id)
        .where("unique_organization_id", "=", uniqueOrganizationId);
      const { count } = await mine.select((row) => row.fn.countAll().as("count")).executeTakeFirstOrThrow();
      const rows = await mine
        .select("entry")
        .orderBy("id", "desc")
        .limit(pageSize)
        .offset((page - 1) * pageSize)
        .execute();
      return { count: Number(count), rows: rows.map(({ entry }) => asEntry(entry)) };
    },

    purgeHistory: async (before, limit) => {
      const old = queries.selectFrom("alert_history").select("id").where("created_at", "<", before).limit(limit);
      const { numDeletedRows } = await queries
        .deleteFrom("alert_history")
        .where("id", "in", old)
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },

    eraseCustomer: (customer) => eraseCustomerInAlerts(queries, customer),
  };
}

async function trimHistory(queries: ControlQueries, alertId: string): Promise<void> {
  const ofRule = queries.selectFrom("alert_history").select("id").where("alert_id", "=", alertId);
  const surplus = await ofRule.orderBy("id", "desc").limit(1).offset(storageLimits.alertHistoryRows).executeTakeFirst();
  if (surplus === undefined) return;
  await queries.deleteFrom("alert_history").where("alert_id", "=", alertId).where("id", "<=", surplus.id).execute();
}

// Seven values per row; SQLite binds at most 32,766.
const rowsPerInsert = 1_000;

const noCounts: Alert["counts"] = { ok: 0, triggered: 0, no_data: 0 };

async function makeRoom(queries: ControlQueries, uniqueOrganizationId: string): Promise<void> {
  const { count } = await queries
    .selectFrom("alerts")
    .select((row) => row.fn.countAll().as("count"))
    .where("unique_organization_id", "=", uniqueOrganizationId)
    .executeTakeFirstOrThrow();
  const max = storageLimits.alertsPerOrganization;
  if (Number(count) >= max) throw new ServiceError("conflict", `There are ${max} alerts already; delete some first.`);
}

/**
 * A key shared by the rules that one query can measure: they differ only in their metric and, over short windows, in
 * their filters.
 */
function measuredWith(
  { unique_organization_id, environment }: Pick<AlertTable, "unique_organization_id" | "environment">,
  { filters, window, group_by, change_percentage }: AlertDefinition,
): string {
  const windowMs = durationMs(window) ?? 0;
  const same = windowMs <= storageLimits.alertTogetherWindowMs ? "any" : filters;
  const parts = [unique_organization_id, environment, same, windowMs, group_by, change_percentage === null];
  return hash("sha256", JSON.stringify(parts), "base64url");
}

function toAlert({ definition, counts, tested_at: _tested, measured_with: _with, ...row }: AlertTable): Alert {
  return {
    ...row,
    ...asDefinition(definition),
    environment: row.environment as Environment,
    is_enabled: row.is_enabled === 1,
    counts: JSON.parse(counts) as Alert["counts"],
  };
}

/** Safe because only this store writes these columns, from values of these types. */
function asDefinition(text: string): AlertDefinition {
  return JSON.parse(text) as AlertDefinition;
}

function asStatuses(text: string): AlertGroupStatus[] {
  return JSON.parse(text) as AlertGroupStatus[];
}

/** Entries of before they had ids get one that follows from their content. */
function asEntry(text: string): AlertHistoryEntry {
  const { id = hash("sha256", text, "hex"), ...entry } = JSON.parse(text) as Omit<AlertHistoryEntry, "id"> & {
    id?: string;
  };
  return { id, ...entry };
}
