import { sql } from "kysely";
import type { CustomerErasure, CustomerKey } from "../../domain/customer.ts";
import { storageLimits } from "../limits.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { CustomerErasureRow } from "./schema.ts";

/**
 * Which customers were deleted, and when last. Records are permanent: spans received before may be resent at any time.
 */
export type CustomerErasureStore = {
  /** Overwrites the time of a customer that was deleted before, if it is later. */
  add: (erasure: CustomerErasure & CustomerKey) => Promise<void>;
  /** Erasures at or after `since`, in order of time, a page at a time. The last page has no cursor. */
  list: (
    since: string,
    after?: ErasureCursor,
  ) => Promise<{ erasures: CustomerErasure[]; next: ErasureCursor | undefined }>;
  /** Removes the names, not the fingerprints, of customers that were deleted before a time. */
  deleteNames: (before: string) => Promise<void>;
};

export type ErasureCursor = Pick<CustomerErasureRow, "erased_at" | "fingerprint">;

export function createCustomerErasureStore(queries: ControlQueries): CustomerErasureStore {
  return {
    add: async ({ organization_id, environment, customer_identifier, fingerprint, erasedAtMs }) => {
      const erased_at = new Date(erasedAtMs).toISOString();
      await queries
        .insertInto("customer_erasures")
        .values({ unique_organization_id: organization_id, environment, fingerprint, customer_identifier, erased_at })
        .onConflict((conflict) =>
          conflict.columns(["unique_organization_id", "environment", "fingerprint"]).doUpdateSet({
            customer_identifier,
            erased_at: sql<string>`case when excluded.erased_at > customer_erasures.erased_at
              then excluded.erased_at else customer_erasures.erased_at end`,
          }),
        )
        .execute();
    },

    list: async (since, after) => {
      const rows = await queries
        .selectFrom("customer_erasures")
        .selectAll()
        .where("erased_at", ">=", since)
        .where((row) =>
          after === undefined
            ? row.lit(true)
            : row.or([
                row("erased_at", ">", after.erased_at),
                row.and([row("erased_at", "=", after.erased_at), row("fingerprint", ">", after.fingerprint)]),
              ]),
        )
        .orderBy("erased_at")
        .orderBy("fingerprint")
        .limit(storageLimits.customerErasuresPage)
        .execute();
      const last = rows.length === storageLimits.customerErasuresPage ? rows.at(-1) : undefined;
      const next = last && { erased_at: last.erased_at, fingerprint: last.fingerprint };
      return { erasures: rows.map(toErasure), next };
    },

    deleteNames: async (before) => {
      await queries
        .updateTable("customer_erasures")
        .set({ customer_identifier: null })
        .where("erased_at", "<", before)
        .where("customer_identifier", "is not", null)
        .execute();
    },
  };
}

/** Safe because only `add` writes the table, from an Environment. */
function toErasure(row: CustomerErasureRow): CustomerErasure {
  return {
    organization_id: row.unique_organization_id,
    environment: row.environment as CustomerErasure["environment"],
    fingerprint: row.fingerprint,
    customer_identifier: row.customer_identifier ?? undefined,
    erasedAtMs: Date.parse(row.erased_at),
  };
}
