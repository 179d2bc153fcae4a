import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { environmentQuery } from "../../http/query.ts";
import { customerDetail, customerParams } from "./customer-schema.ts";
import { describeCustomer, type CustomerDeps } from "./describe-customer.ts";
import { customerKey, findCustomer } from "./find-customer.ts";

export const retrieveCustomer = (deps: CustomerDeps) =>
  endpoint({
    id: "retrieve_customer",
    method: "GET",
    path: "/api/users/{customer_identifier}/",
    summary: "Retrieve a customer",
    description:
      "Profile, budgets and usage, over all time. A customer exists from the first span or gateway call " +
      "that names it. The identifier is percent-encoded in the path.",
    tags: ["Customers"],
    auth: "key",
    permission: "customers:read",
    waitsInQueue: true,
    limit: "api",
    params: customerParams,
    query: z.object(environmentQuery()),
    success: { status: 200, schema: customerDetail },
    errors: ["not_found", "query_too_large", "unavailable"],
    async handler({ principal, params, query, signal }) {
      const key = customerKey({ principal, params, query });
      await deps.caughtUp();
      const customer = await findCustomer(deps.customers, key, signal);
      return await describeCustomer(deps, { customer, principal, signal });
    },
  });
