import { sql, type ExpressionBuilder } from "kysely";
import { storageLimits } from "../limits.ts";
import { customerKeyText, type CustomerKey } from "../../domain/customer.ts";
import { chunksOf, evenly } from "./customer-changes.ts";
import { byTenant, columnsOf, keyOf, type CustomerKeyColumns } from "./customer-key.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { ControlSchema } from "./schema.ts";

/**
 * Spent and reserved amounts of customers with budgets, in billionths of a dollar. Methods run several statements: use
 * them in a transaction. Every change locks the customer's row, so change those of several customers in a fixed order.
 */
export type CustomerLedger = {
  /**
   * Reserves an amount. Undefined if that would exceed a budget, a budget is used up, or the row is of another period.
   * A reservation with this id that exists already keeps its amount.
   */
  reserve: (request: ReservationRequest) => Promise<SpendState | undefined>;
  find: (key: CustomerKey) => Promise<SpendState | undefined>;
  /** Opens a row, or begins a period, with the known spend. False if the row is of this period already: it stays. */
  begin: (key: CustomerKey, spend: KnownSpend) => Promise<boolean>;
  /** The same, and raises the amounts of a row of this period to the known spend. Never lowers them. */
  open: (key: CustomerKey, spend: KnownSpend) => Promise<void>;
  /**
   * Subtracts what spans turned out not to cost: at most the spent amount, and from the period only while the row is of
   * that period.
   */
  lower: (key: CustomerKey, less: KnownSpend) => Promise<void>;
  /**
   * Ends a reservation and adds the spent amount, once: a reservation that has ended adds nothing. Undefined if the
   * customer has no row.
   */
  settle: (key: CustomerKey, reservation: { id: string; spent: bigint }) => Promise<SpendState | undefined>;
  /** The unsettled reservation of a call; released ones first. */
  findReservation: (key: CustomerKey, callId: string) => Promise<{ id: string; amount: bigint } | undefined>;
  /**
   * Releases expired reservations, of one customer or of all; returns how many. They stay on record with amount 0 for a
   * day, as their calls may still be settled: by a slow node, or by the next process of a dead one.
   */
  releaseExpired: (nowIso: string, of?: CustomerKey) => Promise<number>;
  /** Extends the reservations of a live node. */
  renew: (nodeId: string, expiresAt: string) => Promise<void>;
  /** True once per period, or for the total budget, and again when a larger budget is used up. */
  markReached: (key: CustomerKey, mark: ReachedMark) => Promise<boolean>;
  delete: (key: CustomerKey) => Promise<void>;
};

export type ReservationRequest = {
  key: CustomerKey;
  id: string;
  nodeId: string;
  expiresAt: string;
  amount: bigint;
  /** '' if the customer has no period. */
  periodStart: string;
  periodBudget: bigint | undefined;
  totalBudget: bigint | undefined;
};

/** The budget that is used up, and its size. */
export type ReachedMark = { kind: "period"; periodStart: string; budget: bigint } | { kind: "total"; budget: bigint };

export type KnownSpend = { periodStart: string; period: bigint; total: bigint };

export type SpendState = { periodStart: string; period: bigint; total: bigint; reserved: bigint };

/** The node of released reservations. */
const nobody = "";

// If more expire together, the next call releases the rest.
const releasesAtOnce = 500;

const customerColumns = ["unique_organization_id", "environment", "customer_identifier"] as const;

const state = [
  "period_start",
  sql<string>`cast(period_spent as text)`.as("period_spent"),
  sql<string>`cast(total_spent as text)`.as("total_spent"),
  sql<string>`cast(reserved as text)`.as("reserved"),
] as const;

type Row = { period_start: string; period_spent: string; total_spent: string; reserved: string };

export function createCustomerLedger(queries: ControlQueries): CustomerLedger {
  return {
    find: (key) => find(queries, key),
    reserve: (request) => reserve(queries, request),
    begin: (key, spend) => open(queries, key, spend, "begin"),
    open: async (key, spend) => void (await open(queries, key, spend, "raise")),
    lower: (key, less) => lower(queries, key, less),
    settle: (key, reservation) => settle(queries, key, reservation),
    findReservation: (key, callId) => findReservation(queries, key, callId),
    releaseExpired: (nowIso, of) => releaseExpired(queries, nowIso, of),
    renew: (nodeId, expiresAt) => renew(queries, nodeId, expiresAt),
    markReached: (key, mark) => markReached(queries, key, mark),
    delete: (key) => deleteLedger(queries, key),
  };
}

async function find(queries: ControlQueries, key: CustomerKey): Promise<SpendState | undefined> {
  const row = await queries.selectFrom("customer_spend").select(state).where(is(key)).executeTakeFirst();
  return row && toState(row);
}

/** Spend of customers, by `customerKeyText`. Customers without a row are not in the result. */
export async function findSpends(
  queries: ControlQueries,
  keys: readonly CustomerKey[],
): Promise<Map<string, SpendState>> {
  const spends = new Map<string, SpendState>();
  for (const [{ unique_organization_id, environment }, identifiers] of byTenant(keys)) {
    for (const chunk of chunksOf(identifiers)) {
      const rows = await queries
        .selectFrom("customer_spend")
        .select([...customerColumns, ...state])
        .where("unique_organization_id", "=", unique_organization_id)
        .where("environment", "=", environment)
        .where("customer_identifier", "in", evenly(chunk))
        .execute();
      for (const row of rows) spends.set(customerKeyText(keyOf(row)), toState(row));
    }
  }
  return spends;
}

async function reserve(
  queries: ControlQueries,
  { key, id, nodeId, expiresAt, amount, periodStart, periodBudget, totalBudget }: ReservationRequest,
): Promise<SpendState | undefined> {
  const { numInsertedOrUpdatedRows = 0n } = await queries
    .insertInto("customer_reservations")
    .values({ id, ...columnsOf(key), node_id: nodeId, amount, expires_at: expiresAt })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 0n) return await find(queries, key);
  let update = queries
    .updateTable("customer_spend")
    .set((row) => ({ reserved: sql<bigint>`${row.ref("reserved")} + ${amount}` }))
    .where(is(key))
    .where("period_start", "=", periodStart);
  if (periodBudget !== undefined) update = update.where(fits("period_spent", amount, periodBudget));
  if (totalBudget !== undefined) update = update.where(fits("total_spent", amount, totalBudget));
  const row = await update.returning(state).executeTakeFirst();
  if (row !== undefined) return toState(row);
  await queries.deleteFrom("customer_reservations").where("id", "=", id).execute();
  return undefined;
}

async function open(
  queries: ControlQueries,
  key: CustomerKey,
  { periodStart, period, total }: KnownSpend,
  way: "begin" | "raise",
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await queries
    .insertInto("customer_spend")
    .values({
      ...columnsOf(key),
      period_start: periodStart,
      period_spent: period,
      total_spent: total,
      reserved: 0n,
      reached_period: "",
      reached_period_budget: null,
      reached_total_budget: null,
    })
    .onConflict((conflict) => {
      const update = conflict.columns(["unique_organization_id", "environment", "customer_identifier"]).doUpdateSet({
        period_start: (row) => row.ref("excluded.period_start"),
        period_spent: sql<bigint>`case when customer_spend.period_start = excluded.period_start
          and customer_spend.period_spent > excluded.period_spent
          then customer_spend.period_spent else excluded.period_spent end`,
        total_spent: sql<bigint>`case when customer_spend.total_spent > excluded.total_spent
          then customer_spend.total_spent else excluded.total_spent end`,
      });
      return way === "raise" ? update : update.whereRef("customer_spend.period_start", "!=", "excluded.period_start");
    })
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

async function lower(
  queries: ControlQueries,
  key: CustomerKey,
  { periodStart, period, total }: KnownSpend,
): Promise<void> {
  await queries
    .updateTable("customer_spend")
    .set({
      period_spent: sql<bigint>`case when period_start <> ${periodStart} then period_spent
        when period_spent > ${period} then period_spent - ${period} else 0 end`,
      total_spent: sql<bigint>`case when total_spent > ${total} then total_spent - ${total} else 0 end`,
    })
    .where(is(key))
    .execute();
}

async function settle(
  queries: ControlQueries,
  key: CustomerKey,
  { id, spent }: { id: string; spent: bigint },
): Promise<SpendState | undefined> {
  const deleted = await queries
    .deleteFrom("customer_reservations")
    .where("id", "=", id)
    .returning(amountText)
    .executeTakeFirst();
  if (deleted === undefined) return await find(queries, key);
  const released = BigInt(deleted.amount);
  const row = await queries
    .updateTable("customer_spend")
    .set((column) => ({
      reserved: sql<bigint>`${column.ref("reserved")} - ${released}`,
      period_spent: sql<bigint>`${column.ref("period_spent")} + ${spent}`,
      total_spent: sql<bigint>`${column.ref("total_spent")} + ${spent}`,
    }))
    .where(is(key))
    .returning(state)
    .executeTakeFirst();
  return row && toState(row);
}

async function findReservation(
  queries: ControlQueries,
  key: CustomerKey,
  callId: string,
): Promise<{ id: string; amount: bigint } | undefined> {
  const row = await queries
    .selectFrom("customer_reservations")
    .select(["id", amountText])
    .where(is(key))
    .where("id", "like", `${callId}.%`)
    .orderBy((order) => order.case().when("node_id", "=", nobody).then(0).else(1).end())
    .orderBy("expires_at")
    .executeTakeFirst();
  return row && { id: row.id, amount: BigInt(row.amount) };
}

async function releaseExpired(queries: ControlQueries, nowIso: string, of?: CustomerKey): Promise<number> {
  let expired = queries.selectFrom("customer_reservations").select("id").where("expires_at", "<=", nowIso);
  expired = of === undefined ? expired : expired.where(is(of)).where("node_id", "!=", nobody);
  const ids = (await expired.orderBy("id").limit(releasesAtOnce).execute()).map(({ id }) => id);
  if (ids.length === 0) return 0;
  const ended = queries.deleteFrom("customer_reservations").where("expires_at", "<=", nowIso).where("id", "in", ids);
  await ended.where("node_id", "=", nobody).execute();
  const deleted = await ended
    .where("node_id", "!=", nobody)
    .returning(["id", ...customerColumns, amountText])
    .execute();
  const keptUntil = new Date(Date.parse(nowIso) + storageLimits.customerReservationRetentionMs).toISOString();
  for (const { id, amount, ...row } of deleted.sort(byCustomer)) {
    await release(queries, keyOf(row), BigInt(amount));
    await queries
      .insertInto("customer_reservations")
      .values({ id, ...row, node_id: nobody, amount: 0n, expires_at: keptUntil })
      .execute();
  }
  return deleted.length;
}

async function release(queries: ControlQueries, key: CustomerKey, amount: bigint): Promise<void> {
  await queries
    .updateTable("customer_spend")
    .set((row) => ({ reserved: sql<bigint>`${row.ref("reserved")} - ${amount}` }))
    .where(is(key))
    .execute();
}

async function renew(queries: ControlQueries, nodeId: string, expiresAt: string): Promise<void> {
  await queries
    .updateTable("customer_reservations")
    .set({ expires_at: expiresAt })
    .where("node_id", "=", nodeId)
    .execute();
}

async function markReached(queries: ControlQueries, key: CustomerKey, mark: ReachedMark): Promise<boolean> {
  const { budget } = mark;
  const update = queries.updateTable("customer_spend").where(is(key));
  const { numUpdatedRows } =
    mark.kind === "total"
      ? await update
          .set({ reached_total_budget: budget })
          .where((row) => row.or([row("reached_total_budget", "is", null), row("reached_total_budget", "<", budget)]))
          .executeTakeFirst()
      : await update
          .set({ reached_period: mark.periodStart, reached_period_budget: budget })
          .where((row) =>
            row.or([row("reached_period", "!=", mark.periodStart), row("reached_period_budget", "<", budget)]),
          )
          .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function deleteLedger(queries: ControlQueries, key: CustomerKey): Promise<void> {
  await queries.deleteFrom("customer_reservations").where(is(key)).execute();
  await queries.deleteFrom("customer_spend").where(is(key)).execute();
}

const amountText = sql<string>`cast(amount as text)`.as("amount");

/** A used-up budget refuses every call, even one that costs nothing. */
function fits(spent: "period_spent" | "total_spent", amount: bigint, budget: bigint) {
  const used = sql`${sql.ref(spent)} + reserved`;
  return sql<boolean>`${used} + ${amount} <= ${budget} and ${used} < ${budget}`;
}

function is(key: CustomerKey) {
  return (row: ExpressionBuilder<ControlSchema, "customer_spend" | "customer_reservations">) => row.and(columnsOf(key));
}

function byCustomer(one: CustomerKeyColumns, other: CustomerKeyColumns): number {
  const [a, b] = [one, other].map((row) =>
    [row.unique_organization_id, row.environment, row.customer_identifier].join("\n"),
  );
  return a === b ? 0 : String(a) < String(b) ? -1 : 1;
}

function toState(row: Row): SpendState {
  return {
    periodStart: row.period_start,
    period: BigInt(row.period_spent),
    total: BigInt(row.total_spent),
    reserved: BigInt(row.reserved),
  };
}
