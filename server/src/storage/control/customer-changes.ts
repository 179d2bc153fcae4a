import { sql, type RawBuilder } from "kysely";
import type { Customer, CustomerKey } from "../../domain/customer.ts";
import { columnsOf, keyOf, keyValues, type CustomerKeyColumns } from "./customer-key.ts";
import { inKeyOrder } from "../../lib/in-key-order.ts";
import type { ControlQueries } from "./open-control-database.ts";

/** Changes of many customers in one statement: their keys are joined as a table of values. */
export type Sighting = { key: CustomerKey; firstSeen: string };

/** See `CustomerStore`. */
export async function moveFirstSeen(
  queries: ControlQueries,
  sightings: readonly Sighting[],
  updatedAt: string,
): Promise<CustomerKey[]> {
  const moved: CustomerKey[] = [];
  for (const chunk of chunksOf(inKeyOrder(sightings, ({ key }) => keyValues(key)))) {
    const values = evenly(chunk).map(({ key, firstSeen }) => valuesOf(key, firstSeen));
    const { rows } = await sql<CustomerKeyColumns>`
      WITH sighted (organization, environment, identifier, seen) AS (VALUES ${sql.join(values)})
      UPDATE customers SET first_seen = sighted.seen, updated_at = ${updatedAt}, is_indexed = 0 FROM sighted
      WHERE customers.unique_organization_id = sighted.organization AND customers.environment = sighted.environment
        AND customers.customer_identifier = sighted.identifier AND customers.first_seen > sighted.seen
        AND customers.updated_at < ${updatedAt}
      RETURNING customers.unique_organization_id, customers.environment, customers.customer_identifier`.execute(
      queries,
    );
    moved.push(...rows.map(keyOf));
  }
  return moved;
}

/** See `CustomerStore`. */
export async function markIndexed(queries: ControlQueries, customers: readonly Customer[]): Promise<void> {
  for (const chunk of chunksOf(inKeyOrder(customers, keyValues))) {
    const values = evenly(chunk).map((customer) => valuesOf(customer, customer.updated_at));
    await sql`
      WITH copied (organization, environment, identifier, as_of) AS (VALUES ${sql.join(values)})
      UPDATE customers SET is_indexed = 1 FROM copied
      WHERE customers.unique_organization_id = copied.organization AND customers.environment = copied.environment
        AND customers.customer_identifier = copied.identifier AND customers.updated_at = copied.as_of`.execute(queries);
  }
}

// As many as arrive together (`limits.fanOutBatchRows`), so that they are one commit. SQLite bounds the values of a
// statement.
const rowsPerStatement = 512;

export function* chunksOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += rowsPerStatement)
    yield items.slice(start, start + rowsPerStatement);
}

/** Repeats the last item up to a power of two: statements of only a few lengths need to be compiled. */
export function evenly<T>(items: readonly T[]): T[] {
  const size = 2 ** Math.ceil(Math.log2(items.length));
  return Array.from({ length: size }, (_, index) => items[Math.min(index, items.length - 1)] as T);
}

/** One row of a list of values: the customer's key, and a time. */
function valuesOf(key: CustomerKey, at: string): RawBuilder<unknown> {
  const { unique_organization_id, environment, customer_identifier } = columnsOf(key);
  return sql`(${unique_organization_id}, ${environment}, ${customer_identifier}, ${at})`;
}
