import { z } from "zod";
import { customerChangeFields } from "../../customers/fields.ts";
import { endpoint } from "../../http/endpoint.ts";
import { environmentQuery } from "../../http/query.ts";
import { customerDetail, customerParams } from "./customer-schema.ts";
import { describeCustomer, type CustomerDeps } from "./describe-customer.ts";
import { ownCustomerKey, noSuchCustomer } from "./find-customer.ts";

export const updateCustomer = (deps: CustomerDeps) =>
  endpoint({
    id: "update_customer",
    method: "PATCH",
    path: "/api/users/{customer_identifier}/",
    summary: "Change a customer's profile and budgets",
    description:
      "Omitted members keep their value, null clears a field, and unknown members are refused. A period_budget without a " +
      "budget_duration or period_end applies to the calendar month (UTC). Errors are keyed by field.",
    tags: ["Customers"],
    auth: "key",
    permission: "customers:write",
    environment: "own",
    limit: "api",
    dialect: "fields",
    params: customerParams,
    query: z.object(environmentQuery()),
    body: {
      kind: "json",
      example: { name: "Acme Inc.", period_budget: 5, budget_duration: "monthly", rate_limit: 60 },
      schema: z.object(customerChangeFields).meta({ id: "CustomerChange" }),
      shown: customerDetail,
    },
    success: { status: 200, schema: customerDetail },
    errors: ["invalid_request", "not_found", "query_too_large", "unavailable"],
    async handler({ principal, params, query, body, signal }) {
      await deps.caughtUp();
      const customer = await deps.customers.update(ownCustomerKey({ principal, params, query }), body, signal);
      if (customer === undefined) throw noSuchCustomer();
      return await describeCustomer(deps, { customer, principal, signal });
    },
  });
