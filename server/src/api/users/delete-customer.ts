import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { environmentQuery } from "../../http/query.ts";
import { erasedTarget } from "../../customers/erasures.ts";
import type { Customers } from "../../customers/customers.ts";
import type { TraceDeletions } from "../../jobs/trace-deletions.ts";
import { customerParams } from "./customer-schema.ts";
import { ownCustomerKey, noSuchCustomer } from "./find-customer.ts";

type DeleteDeps = { customers: Customers; traceDeletions: Pick<TraceDeletions, "settle"> };

export const deleteCustomer = ({ customers, traceDeletions }: DeleteDeps) =>
  endpoint({
    id: "delete_customer",
    method: "DELETE",
    path: "/api/users/{customer_identifier}/",
    summary: "Delete a customer",
    description:
      "Permanently removes profile, budgets and identity. Its spans remain, but no longer name it, and neither do " +
      "resends of spans received before. A new span or call that names it creates a new customer.",
    tags: ["Customers"],
    auth: "key",
    permission: "customers:write",
    environment: "own",
    auditTarget: (context) => erasedTarget(ownCustomerKey(context)),
    limit: "api",
    params: customerParams,
    query: z.object(environmentQuery()),
    success: { status: 200, description: "Deleted; no body." },
    errors: ["not_found", "unavailable"],
    async handler({ principal, params, query, signal }) {
      const key = ownCustomerKey({ principal, params, query });
      if (!(await customers.remove(key, () => traceDeletions.settle(), signal))) throw noSuchCustomer();
    },
  });
