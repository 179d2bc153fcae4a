import type { z } from "zod";
import type { Customers } from "../../customers/customers.ts";
import { isoOf } from "../../customers/limit-info.ts";
import { usdOf } from "../../customers/money.ts";
import { periodAt } from "../../customers/periods.ts";
import type { Customer } from "../../domain/customer.ts";
import type { KeyPrincipal } from "../../domain/principal.ts";
import type { SpanRow } from "../../domain/span.ts";
import type { Catalogue } from "../../filter/catalogue.ts";
import { toClickHouse } from "../../filter/to-clickhouse.ts";
import { maxTimeNs, minTimeNs } from "../../lib/time.ts";
import { apiLimits } from "../limits.ts";
import type { OrganizationStore } from "../../storage/control/organization-store.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import type { customerDetail } from "./customer-schema.ts";
import { presentAnalytics, presentProfile } from "./present-customer.ts";

export type CustomerDeps = {
  customers: Customers;
  spans: Pick<SpanStore, "describeCustomers" | "groupSpans">;
  organizations: Pick<OrganizationStore, "find">;
  catalogue: Catalogue<SpanRow>;
  /** Waits a moment for accepted spans to be stored. */
  caughtUp: () => Promise<unknown>;
  now: () => number;
};

type Detail = z.input<typeof customerDetail>;

/**
 * All details of one customer. Usage is the cost of spans or, if that is more, the ledger's amount: spans may be
 * deleted, and the cost of some is unknown.
 */
export async function describeCustomer(
  { customers, spans, organizations, catalogue, now }: CustomerDeps,
  { customer, principal, signal }: { customer: Customer; principal: KeyPrincipal; signal: AbortSignal },
): Promise<Detail> {
  const { organization_id, environment, customer_identifier, markup_percentage } = customer;
  const scope = { organization_id, environment };
  const period = periodAt(customer, now());
  const periodFromNs = period && BigInt(period.startMs) * 1_000_000n;
  const identifiers = [customer_identifier];
  const [[stated], spend, organization, top_models] = await Promise.all([
    spans.describeCustomers({ scope, identifiers, periodFromNs }, signal),
    customers.spendOf(customer),
    organizations.find(organization_id),
    topModels({ spans, catalogue }, customer, signal),
  ]);
  const isOfPeriod = period !== undefined && spend?.periodStart === isoOf(period.startMs);
  const periodCost = Math.max(stated?.period_cost ?? 0, isOfPeriod ? usdOf(spend.period) : 0);
  const totalCost = Math.max(stated?.total_cost ?? 0, usdOf(spend?.total ?? 0n));
  const withMarkup = (usd: number) => Number((usd * (1 + markup_percentage / 100)).toFixed(12));
  return {
    ...presentProfile(customer, now()),
    ...presentAnalytics(stated),
    organization: organization?.id ?? 0,
    organization_name: organization?.name ?? "",
    current_period_start: period === undefined ? null : isoOf(period.startMs),
    current_period_end: period?.endMs === undefined ? null : isoOf(period.endMs),
    total_period_usage: withMarkup(periodCost),
    total_usage: withMarkup(totalCost),
    top_models,
    is_test: environment === "test",
    has_write_access: principal.permissions.has("customers:write"),
  };
}

async function topModels(
  { spans, catalogue }: Pick<CustomerDeps, "spans" | "catalogue">,
  { organization_id, environment, customer_identifier }: Customer,
  signal: AbortSignal,
): Promise<Detail["top_models"]> {
  const isCalled = (field: string, value: string) =>
    ({ type: "condition", field, operator: "equal", values: [value] }) as const;
  const { rows } = await spans.groupSpans(
    {
      scope: { organization_id, environment },
      window: { fromNs: minTimeNs, toNs: maxTimeNs },
      filter: toClickHouse(
        {
          type: "all",
          filters: [
            isCalled("customer_identifier", customer_identifier),
            { type: "not", filter: { ...isCalled("model", ""), operator: "isnull", values: [true] } },
          ],
        },
        catalogue,
      ),
      groupBy: ["model"],
      sort: { field: "number_of_requests", descending: true },
      page: 1,
      pageSize: apiLimits.customerTopModels,
    },
    signal,
  );
  return rows.map(({ key, number_of_requests, total_cost }) => ({
    model: String(key["model"]),
    number_of_requests,
    total_cost,
  }));
}
