import { sql } from "kysely";
import type { Customer, CustomerFields, CustomerKey } from "../../domain/customer.ts";
import { isObject, parseKeepingDigits } from "../../lib/json.ts";
import { columnsOf, keyOf } from "./customer-key.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { CustomerRow } from "./schema.ts";

export type CustomerStore = {
  find: (key: CustomerKey) => Promise<Customer | undefined>;
  findMany: (keys: readonly CustomerKey[]) => Promise<Customer[]>;
  /** Those that exist already stay as they are. */
  create: (customers: readonly Customer[]) => Promise<void>;
  /**
   * Writes a customer that was read as of `updatedAt` and changed since. Its `updated_at` must have risen. False where
   * another change came between, or the customer is gone: read it again.
   */
  replace: (customer: Customer, updatedAt: string) => Promise<boolean>;
  /** False: there is none. */
  remove: (key: CustomerKey) => Promise<boolean>;
  /** Customers whose newest version the span store does not have, longest waiting first. */
  listToIndex: (limit: number) => Promise<Customer[]>;
  /** Says that the span store has these as they are here. What changed since stays listed. */
  markIndexed: (customers: readonly Customer[]) => Promise<void>;
};

// SQLite bounds the values of a statement and the depth of its conditions.
const rowsPerStatement = 200;

export function createCustomerStore(queries: ControlQueries): CustomerStore {
  const findMany: CustomerStore["findMany"] = async (keys) => {
    const found: Customer[] = [];
    for (const chunk of chunksOf(keys)) {
      const rows = await queries
        .selectFrom("customers")
        .selectAll()
        .where((row) => row.or(chunk.map((key) => row.and(columnsOf(key)))))
        .execute();
      found.push(...rows.map(toCustomer));
    }
    return found;
  };

  return {
    findMany,
    find: async (key) => {
      const row = await queries
        .selectFrom("customers")
        .selectAll()
        .where((row) => row.and(columnsOf(key)))
        .executeTakeFirst();
      return row && toCustomer(row);
    },

    create: async (customers) => {
      for (const chunk of chunksOf(customers)) {
        await queries
          .insertInto("customers")
          .values(chunk.map(toRow))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      }
    },

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
      const { numDeletedRows } = await queries
        .deleteFrom("customers")
        .where((row) => row.and(columnsOf(key)))
        .executeTakeFirst();
      return numDeletedRows > 0n;
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

    markIndexed: async (customers) => {
      for (const chunk of chunksOf(customers)) {
        await queries
          .updateTable("customers")
          .set({ is_indexed: 1 })
          .where((row) =>
            row.or(chunk.map((customer) => row.and({ ...columnsOf(customer), updated_at: customer.updated_at }))),
          )
          .execute();
      }
    },
  };
}

function* chunksOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += rowsPerStatement)
    yield items.slice(start, start + rowsPerStatement);
}

/** Not indexed: whoever writes a row changes it. */
function toRow(customer: Customer): CustomerRow {
  const { organization_id: _id, environment: _environment, customer_identifier: _customer, ...fields } = customer;
  return {
    ...columnsOf(customer),
    ...fields,
    metadata: JSON.stringify(customer.metadata),
    sent: JSON.stringify(customer.sent),
    is_indexed: 0,
  };
}

function toCustomer({ is_indexed: _isIndexed, ...row }: CustomerRow): Customer {
  const { unique_organization_id: _id, environment: _environment, customer_identifier: _customer, ...fields } = row;
  return {
    ...keyOf(row),
    ...fields,
    // Only `toRow` writes these columns, from the fields of a customer.
    budget_duration: row.budget_duration as CustomerFields["budget_duration"],
    metadata: objectOf(row.metadata),
    sent: objectOf(row.sent),
  };
}

function objectOf(json: string): Record<string, unknown> {
  const value = parseKeepingDigits(json);
  return isObject(value) ? value : {};
}
