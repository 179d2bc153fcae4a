import type { Logger } from "pino";
import type { Customer, CustomerKey } from "../domain/customer.ts";
import { startReplicator, type Replicator } from "../storage/replicator.ts";
import { randomToken } from "../lib/random-token.ts";
import { customersLimits } from "./limits.ts";
import type { CustomerStore } from "../storage/control/customer-store.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";

/** The copy of customers that lists read. The control store is authoritative. */
export type CustomerReplicator = Replicator & {
  /**
   * Removes a customer from lists. Call it before the control store deletes the customer: a missing row cannot be
   * marked.
   */
  remove(customer: CustomerKey & Pick<Customer, "updated_at">): Promise<void>;
};

export function startCustomerReplicator(deps: {
  customers: Pick<CustomerStore, "listToIndex" | "markIndexed">;
  spans: Pick<SpanStore, "insert">;
  logger: Logger;
  onFailure: () => void;
}): CustomerReplicator {
  const { customers, spans, logger, onFailure } = deps;
  const insert = async (rows: readonly Record<string, unknown>[], signal?: AbortSignal): Promise<void> => {
    const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    await spans.insert({ ndjson, rows: rows.length, token: randomToken(16), table: "customers" }, signal);
  };
  const replicator = startReplicator({
    async copyBatch(signal) {
      const batch = await customers.listToIndex(customersLimits.customerReplicationRows);
      if (batch.length === 0) return false;
      await insert(batch.map(copyOf), signal);
      await customers.markIndexed(batch);
      return batch.length === customersLimits.customerReplicationRows;
    },
    onFailure(error) {
      onFailure();
      logger.warn({ err: error }, "customers could not be copied to the span store; retrying");
    },
    retryMs: customersLimits.customerReplicationRetryMs,
    everyMs: customersLimits.customerReplicationEveryMs,
    groupMs: customersLimits.customerReplicationGroupMs,
  });
  return {
    ...replicator,
    remove: ({ updated_at, ...key }) =>
      insert([{ ...keyColumns(key), version: versionOf(updated_at, 1), is_deleted: 1 }]),
  };
}

function copyOf(customer: Customer): Record<string, unknown> {
  return {
    ...keyColumns(customer),
    version: versionOf(customer.updated_at, 0),
    is_deleted: 0,
    email: customer.email ?? "",
    name: customer.name ?? "",
    first_seen: customer.first_seen.replace("T", " ").replace("Z", ""),
  };
}

function keyColumns({ organization_id, environment, customer_identifier }: CustomerKey) {
  return { organization_id, environment, customer_identifier };
}

/**
 * Rises with every change of a customer. A removal follows its last change directly, before the customer can be created
 * again.
 */
function versionOf(updatedAt: string, step: 0 | 1): string {
  return String(BigInt(Date.parse(updatedAt)) * 1_000n + BigInt(step));
}
