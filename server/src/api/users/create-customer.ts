import { z } from "zod";
import { customerChangeFields } from "../../customers/fields.ts";
import { isNamable } from "../../domain/naming.ts";
import { endpoint } from "../../http/endpoint.ts";
import { environmentQuery } from "../../http/query.ts";
import { cleanText } from "../../lib/json.ts";
import { domainLimits } from "../../domain/limits.ts";
import { customerDetail } from "./customer-schema.ts";
import { describeCustomer, type CustomerDeps } from "./describe-customer.ts";
import { ownCustomerKey } from "./find-customer.ts";

export const createCustomer = (deps: CustomerDeps) =>
  endpoint({
    id: "create_customer",
    method: "POST",
    path: "/api/users/",
    summary: "Create a customer",
    description:
      "For instance to set a budget in advance. Spans and gateway calls create their customers automatically.",
    tags: ["Customers"],
    auth: "key",
    permission: "customers:write",
    environment: "own",
    limit: "api",
    dialect: "fields",
    query: z.object(environmentQuery()),
    body: {
      kind: "json",
      example: {
        customer_identifier: "globex",
        name: "Globex Corporation",
        period_budget: 5,
        budget_duration: "monthly",
      },
      schema: z.object({
        customer_identifier: z
          .string({ error: "must be text" })
          .min(1, { error: "must not be empty" })
          .max(domainLimits.identifierChars, { error: `must be at most ${domainLimits.identifierChars} characters` })
          .refine(isNamable, { error: "must not be ., .. or list" })
          .transform(cleanText),
        ...customerChangeFields,
      }),
      shown: customerDetail,
    },
    success: { status: 201, schema: customerDetail },
    errors: ["invalid_request", "conflict", "query_too_large", "unavailable"],
    async handler({ principal, query, body, signal }) {
      const { customer_identifier, ...fields } = body;
      const key = ownCustomerKey({ principal, params: { customer_identifier }, query });
      const customer = await deps.customers.create(key, fields);
      return await describeCustomer(deps, { customer, principal, signal });
    },
  });
