import type { Customers } from "../../customers/customers.ts";
import type { CustomerKey } from "../../domain/customer.ts";
import { ServiceError } from "../../domain/errors.ts";
import { writtenEnvironment, type Environment, type KeyPrincipal } from "../../domain/principal.ts";
import { cleanText } from "../../lib/json.ts";

export type CustomerAddress = {
  principal: KeyPrincipal;
  params: { customer_identifier: string };
  query: { environment: Environment | "all" | undefined };
};

/** In the key's environment unless the query names another. */
export function customerKey({ principal, params, query }: CustomerAddress): CustomerKey {
  const { environment } = query;
  return {
    organization_id: principal.organization_id,
    environment: environment === undefined || environment === "all" ? principal.environment : environment,
    customer_identifier: cleanText(params.customer_identifier),
  };
}

/** The customer that a request changes. @throws ServiceError `forbidden` if the query names the other environment */
export function ownCustomerKey({ principal, params, query }: CustomerAddress): CustomerKey {
  const environment = writtenEnvironment(principal, query.environment);
  return customerKey({ principal, params, query: { environment } });
}

/** @throws ServiceError `not_found` if neither a profile nor a span names the customer */
export async function findCustomer(customers: Pick<Customers, "find">, key: CustomerKey, signal: AbortSignal) {
  const customer = await customers.find(key, signal);
  if (customer === undefined) throw noSuchCustomer();
  return customer;
}

export function noSuchCustomer(): ServiceError {
  return new ServiceError("not_found", "There is no such customer.");
}
