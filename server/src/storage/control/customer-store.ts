import { sql } from "kysely";
import { customerKeyText, type Customer, type CustomerFields, type CustomerKey } from "../../domain/customer.ts";
import { isObject, parseKeepingDigits } from "../../lib/json.ts";
import { chunksOf, evenly, markIndexed, moveFirstSeen, type Sighting } from "./customer-changes.ts";
import { findSpends, type SpendState } from "./customer-ledger.ts";
import { byTenant, columnsOf, keyOf, keyValues } from "./customer-key.ts";
import { inKeyOrder } from "../../lib/in-key-order.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { CustomerRow } from "./schema.ts";

export type CustomerStore = {
  find: (key: CustomerKey) => Promise<Customer | undefined>;
  findMany: (keys: readonly CustomerKey[]) => Promise<Customer[]>;
  /** The customers of an organization that have a markup, at most `limit`. */
  listMarkups: (
    organizationId: string,
    limit: number,
  ) => Promise<Array<Pick<Customer, "environment" | "customer_identifier" | "markup_percentage">>>;
  /** Customers of all organizations that have a budget or a rate limit, with their known spend; at most `limit`. */
  listBounded: (limit: number) => Promise<Array<{ customer: Customer; spend: SpendState | undefined }>>;
  /** Existing customers stay unchanged. */
  create: (customers: readonly Customer[]) => Promise<void>;
  /**
   * Moves `first_seen` back, as changes at `updatedAt`, without reading the customers first. Returns those that it
   * moved: not those seen as early before, changed at `updatedAt` or later, or absent.
   */
  moveFirstSeen: (sightings: readonly Sighting[], updatedAt: string) => Promise<CustomerKey[]>;
  /**
   * Writes a customer that was read as of `updatedAt` and changed since. Its `updated_at` must have risen. False if
   * another change came in between, or the customer was deleted: read it again.
   */
  replace: (customer: Customer, updatedAt: string) => Promise<boolean>;
  /** Deletes a customer and returns the time of its last change; returns undefined if the customer does not exist. */
  remove: (key: CustomerKey) => Promise<string | undefined>;
  /** Customers whose newest version the span store does not have, longest waiting first. */
  listToIndex: (limit: number) => Promise<Customer[]>;
  /** Records that the span store has these versions. Customers that changed since stay listed. */
  markIndexed: (customers: readonly Customer[]) => Promise<void>;
};

export function createCustomerStore(queries: ControlQueries): CustomerStore {
  return {
    findMany: (keys) => findMany(queries, keys),
    find: async (key) => {
      const row = await queries
        .selectFrom("customers")
        .selectAll()
        .where((row) => row.and(columnsOf(key)))
        .executeTakeFirst();
      return row && toCustomer(row);
    },

    listMarkups: async (organizationId, limit) => {
      const rows = await queries
        .selectFrom("customers")
        .select(["unique_organization_id", "environment", "customer_identifier", "markup_percentage"])
        .where("unique_organization_id", "=", organizationId)
        .where("markup_percentage", "!=", 0)
        .limit(limit)
        .execute();
      return rows.map((row) => {
        const { environment, customer_identifier } = keyOf(row);
        return { environment, customer_identifier, markup_percentage: row.markup_percentage };
      });
    },

    listBounded: (limit) => listBounded(queries, limit),

    create: async (customers) => {
      for (const chunk of chunksOf(inKeyOrder(customers, keyValues))) {
        await queries
          .insertInto("customers")
          .values(chunk.map(toRow))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }
    },

    moveFirstSeen: (sightings, updatedAt) => moveFirstSeen(queries, sightings, updatedAt),

    replace: async (customer, updatedAt) => {
      const { numUpdatedRows } = await queries
        .updateTable("customers")
        .set(toRow(customer))
        .where((row) => row.and(columnsOf(customer)))
        .where("updated_at", "=", updatedAt)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    remove: async (key) => {
      const removed = await queries
        .deleteFrom("customers")
        .where((row) => row.and(columnsOf(key)))
        .returning("updated_at")
        .executeTakeFirst();
      return removed?.updated_at;
    },

    listToIndex: async (limit) => {
      const rows = await queries
        .selectFrom("customers")
        .selectAll()
        .where("is_indexed", "=", sql.lit(0))
        .orderBy("updated_at")
        .limit(limit)
        .execute();
      return rows.map(toCustomer);
    },

    markIndexed: (customers) => markIndexed(queries, customers),
  };
}

async function findMany(queries: ControlQueries, keys: readonly CustomerKey[]): Promise<Customer[]> {
  const found: Customer[] = [];
  for (const [{ unique_organization_id, environment }, identifiers] of byTenant(keys)) {
    for (const chunk of chunksOf(identifiers)) {
      const rows = await queries
        .selectFrom("customers")
        .selectAll()
        .where("unique_organization_id", "=", unique_organization_id)
        .where("environment", "=", environment)
        .where("customer_identifier", "in", evenly(chunk))
        .execute();
      found.push(...rows.map(toCustomer));
    }
  }
  return found;
}

async function listBounded(
  queries: ControlQueries,
  limit: number,
): Promise<Array<{ customer: Customer; spend: SpendState | undefined }>> {
  const rows = await queries
    .selectFrom("customers")
    .selectAll()
    .where((row) =>
      row.or([
        row("period_budget", "is not", null),
        row("total_budget", "is not", null),
        row("rate_limit", "is not", null),
      ]),
    )
    .limit(limit)
    .execute();
  const customers = rows.map(toCustomer);
  const spends = await findSpends(queries, customers);
  return customers.map((customer) => ({ customer, spend: spends.get(customerKeyText(customer)) }));
}

/** Not indexed, because every write of a row changes it. */
function toRow(customer: Customer): CustomerRow {
  const { organization_id: _id, environment: _environment, customer_identifier: _customer, ...fields } = customer;
  return {
    ...columnsOf(customer),
    ...fields,
    metadata: JSON.stringify(customer.metadata),
    sent: JSON.stringify(customer.sent),
    unpriced_calls: customer.unpriced_calls === null ? null : String(customer.unpriced_calls),
    is_indexed: 0,
  };
}

function toCustomer({ is_indexed: _isIndexed, ...row }: CustomerRow): Customer {
  const { unique_organization_id: _id, environment: _environment, customer_identifier: _customer, ...fields } = row;
  return {
    ...keyOf(row),
    ...fields,
    // Safe because only `toRow` writes these columns, from the fields of a customer.
    budget_duration: row.budget_duration as CustomerFields["budget_duration"],
    metadata: objectOf(row.metadata),
    sent: objectOf(row.sent),
    unpriced_calls: unpricedOf(row.unpriced_calls),
  };
}

function unpricedOf(text: string | null): CustomerFields["unpriced_calls"] {
  return text === null || text === "refuse" ? text : Number(text);
}

function objectOf(json: string): Record<string, unknown> {
  if (json === "{}") return {};
  const value = parseKeepingDigits(json);
  return isObject(value) ? value : {};
}
