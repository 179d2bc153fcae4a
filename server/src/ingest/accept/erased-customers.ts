import { hash } from "node:crypto";
import type { CustomerErasure, CustomerKey } from "../../domain/customer.ts";
import type { SpanRow } from "../../domain/span.ts";
import { isObject, parseKeepingDigits } from "../../lib/json.ts";
import { parseTimeNs, storedTime } from "../../lib/time.ts";
import { ingestLimits } from "../limits.ts";

/**
 * Deleted customers, with the time of the last deletion. Spans received before it are stored without the customer,
 * however often they are resent. Customers are known by fingerprint, without expiry. Bounded by
 * `ingestLimits.erasedCustomers`.
 */
export type ErasedCustomers = {
  /** The last deletion of a span's customer; undefined if there was none, or the span names no customer. */
  erasedAtNs(span: CustomerOf): bigint | undefined;
  /** Returns false if this deletion, or a later one, was known already. */
  add(erasure: CustomerErasure): boolean;
  /**
   * Removes the customer from rows that were received before its deletion. Returns the same array if there are none.
   */
  withoutErased(rows: readonly SpanRow[]): readonly SpanRow[];
  stats(): { customers: number; evicted: number };
};

type CustomerOf = Omit<CustomerKey, "customer_identifier"> & { customer_identifier?: string | undefined };

export function createErasedCustomers(maxCustomers: number = ingestLimits.erasedCustomers): ErasedCustomers {
  /** By tenant and fingerprint, in the order of deletion. */
  const tenants = new Map<string, Map<string, number>>();
  let customers = 0;
  let evicted = 0;

  const makeRoom = (): void => {
    const largest = [...tenants.values()].reduce((one, other) => (other.size > one.size ? other : one));
    for (const oldest of largest.keys()) {
      largest.delete(oldest);
      customers -= 1;
      evicted += 1;
      return;
    }
  };
  const erasedAtNs: ErasedCustomers["erasedAtNs"] = ({ organization_id, environment, customer_identifier }) => {
    if (customers === 0 || customer_identifier === undefined || customer_identifier === "") return undefined;
    const ofTenant = tenants.get(tenantKey({ organization_id, environment }));
    if (ofTenant === undefined) return undefined;
    const erasedAtMs = ofTenant.get(customerFingerprint({ organization_id, environment, customer_identifier }));
    return erasedAtMs === undefined ? undefined : endOfMs(erasedAtMs);
  };
  return {
    erasedAtNs,
    add({ fingerprint, erasedAtMs, ...tenant }) {
      const key = tenantKey(tenant);
      const ofTenant = tenants.get(key) ?? new Map<string, number>();
      tenants.set(key, ofTenant);
      const known = ofTenant.get(fingerprint);
      if (known !== undefined && known >= erasedAtMs) return false;
      if (known === undefined) customers += 1;
      ofTenant.delete(fingerprint);
      ofTenant.set(fingerprint, erasedAtMs);
      if (customers > maxCustomers) makeRoom();
      return true;
    },
    withoutErased(rows) {
      if (customers === 0) return rows;
      const areErased = rows.map((row) => isReceivedBefore(row, erasedAtNs(row)));
      return areErased.includes(true)
        ? rows.map((row, index) => (areErased[index] === true ? withoutCustomer(row) : row))
        : rows;
    },
    stats: () => ({ customers, evicted }),
  };
}

/** The last nanosecond of a millisecond: receipts have nanoseconds, deletions only milliseconds. */
export function endOfMs(ms: number): bigint {
  return BigInt(ms + 1) * 1_000_000n - 1n;
}

/** Whether a row was received before its customer was deleted. */
export function isReceivedBefore(
  { received_at }: Pick<SpanRow, "received_at">,
  erasedAtNs: bigint | undefined,
): boolean {
  return erasedAtNs !== undefined && (parseTimeNs(received_at ?? "") ?? 0n) <= erasedAtNs;
}

/** 132 bits of SHA-256 over organization, environment and identifier: recognizes the customer without revealing it. */
export function customerFingerprint({ organization_id, environment, customer_identifier }: CustomerKey): string {
  const text = `${organization_id}\u0000${environment}\u0000${customer_identifier}`;
  return hash("sha256", text, "base64url").slice(0, 22);
}

const warning = "the customer that this span names was deleted since";

/**
 * A row without its customer. Its `extra` is a value, or JSON text.
 * @param receivedNs when the row was first received, before its customer was deleted; stored in the row, so that this
 * stays known
 */
export function withoutCustomer(row: SpanRow, receivedNs?: bigint): SpanRow {
  const extra = typeof row.extra === "string" && row.extra !== "" ? parseKeepingDigits(row.extra) : row.extra;
  const { customer_params: _params, ...others } = isObject(extra) ? extra : {};
  return {
    ...row,
    ...(receivedNs !== undefined && { received_at: storedTime(receivedNs) }),
    customer_identifier: "",
    customer_email: "",
    customer_name: "",
    extra: { warnings: warning, ...others },
  };
}

function tenantKey({ organization_id, environment }: Omit<CustomerKey, "customer_identifier">): string {
  return `${organization_id}\n${environment}`;
}
