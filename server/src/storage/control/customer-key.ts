import type { CustomerKey } from "../../domain/customer.ts";

/** A customer in the columns that its tables share. */
export type CustomerKeyColumns = { unique_organization_id: string; environment: string; customer_identifier: string };

export function columnsOf({ organization_id, environment, customer_identifier }: CustomerKey): CustomerKeyColumns {
  return { unique_organization_id: organization_id, environment, customer_identifier };
}

/** The values of the primary key, to sort by. */
export function keyValues({ organization_id, environment, customer_identifier }: CustomerKey): string[] {
  return [organization_id, environment, customer_identifier];
}

/** Safe because the stores write the column only from a key. */
export function keyOf({ unique_organization_id, environment, customer_identifier }: CustomerKeyColumns): CustomerKey {
  return {
    organization_id: unique_organization_id,
    environment: environment as CustomerKey["environment"],
    customer_identifier,
  };
}

/** Groups customers so that those of one organization and environment are found by one condition. */
export function byTenant(
  keys: readonly CustomerKey[],
): Iterable<[Omit<CustomerKeyColumns, "customer_identifier">, string[]]> {
  const tenants = new Map<string, [CustomerKeyColumns, string[]]>();
  for (const key of keys) {
    const name = JSON.stringify([key.organization_id, key.environment]);
    const tenant = tenants.get(name);
    if (tenant === undefined) tenants.set(name, [columnsOf(key), [key.customer_identifier]]);
    else tenant[1].push(key.customer_identifier);
  }
  return tenants.values();
}
