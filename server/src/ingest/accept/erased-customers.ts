import { hash } from "node:crypto";
import type { CustomerErasure, CustomerKey } from "../../domain/customer.ts";
import type { SpanRow } from "../../domain/span.ts";
import { isObject, parseKeepingDigits } from "../../lib/json.ts";
import { parseTimeNs, storedTime } from "../../lib/time.ts";
import { ingestLimits } from "../limits.ts";

/**
 * Customers that were deleted, and when last: what was received before that names nobody, however often it comes again. Known by
 * their fingerprints, for good. Bounded by `ingestLimits.erasedCustomers`.
 */
export type ErasedCustomers = {
  /** When the customer of a span was deleted last; undefined where it never was, or there is none. */
  erasedAtNs(span: CustomerOf): bigint | undefined;
  /** False: it was known. */
  add(erasure: CustomerErasure): boolean;
  /** The same without the customer for spans that were received before it was deleted, else the very rows. */
  withoutErased(rows: readonly SpanRow[]): readonly SpanRow[];
  stats(): { customers: number; forgotten: number };
};

type CustomerOf = Omit<CustomerKey, "customer_identifier"> & { customer_identifier?: string | undefined };

export function createErasedCustomers(maxCustomers: number = ingestLimits.erasedCustomers): ErasedCustomers {
  /** By tenant and fingerprint, in the order of deletion. */
  const tenants = new Map<string, Map<string, number>>();
  let customers = 0;
  let forgotten = 0;

  const makeRoom = (): void => {
    const largest = [...tenants.values()].reduce((one, other) => (other.size > one.size ? other : one));
    for (const oldest of largest.keys()) {
      largest.delete(oldest);
      customers -= 1;
      forgotten += 1;
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
    stats: () => ({ customers, forgotten }),
  };
}

/** All of the millisecond in which it was deleted: receipts are told apart by nanoseconds, deletions are not. */
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

/** 128 bits of SHA-256 over organization, environment and identifier: tells a customer that is named again, and cannot be read. */
export function customerFingerprint({ organization_id, environment, customer_identifier }: CustomerKey): string {
  const text = `${organization_id}\u0000${environment}\u0000${customer_identifier}`;
  return hash("sha256", text, "base64url").slice(0, 22);
}

const warning = "the customer that this span names was deleted since";

/**
 * A row that does not say whose it is. Its `extra` is a value, or the JSON text of one.
 * @param receivedNs when it was received first, before its customer was deleted: so it is told of it for good
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
