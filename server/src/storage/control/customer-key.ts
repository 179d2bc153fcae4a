import type { CustomerKey } from "../../domain/customer.ts";

/** A customer in the columns that its tables share. */
export type CustomerKeyColumns = { unique_organization_id: string; environment: string; customer_identifier: string };

export function columnsOf({ organization_id, environment, customer_identifier }: CustomerKey): CustomerKeyColumns {
  return { unique_organization_id: organization_id, environment, customer_identifier };
}

/** The stores write the column from a key alone. */
export function keyOf({ unique_organization_id, environment, customer_identifier }: CustomerKeyColumns): CustomerKey {
  return {
    organization_id: unique_organization_id,
    environment: environment as CustomerKey["environment"],
    customer_identifier,
  };
}
