import { z } from "zod";
import type { Customers } from "../../customers/customers.ts";
import { customerKeyText, customerSortFields, type CustomerKey } from "../../domain/customer.ts";
import { ServiceError } from "../../domain/errors.ts";
import { describeFields } from "../../filter/describe.ts";
import { toGroupFilter, type GroupCatalogue } from "../../filter/group-fields.ts";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { requestedEnvironment, pagingQuery, sortQuery, timeWindow } from "../../http/query.ts";
import { formatTimeNs, maxTimeNs, minTimeNs } from "../../lib/time.ts";
import type { ListCustomersQuery } from "../../storage/spans/customer-queries.ts";
import type { SpanStore, TimeWindow } from "../../storage/spans/span-store.ts";
import { coverageSchema } from "../coverage.ts";
import { filtersBody, readFilters, selectionQuery } from "../read-filters.ts";
import { customerRow } from "./customer-schema.ts";
import { presentRow } from "./present-customer.ts";

type ListDeps = {
  customers: Pick<Customers, "findMany">;
  spans: Pick<SpanStore, "listCustomers" | "describeCustomers">;
  customerCatalogue: GroupCatalogue;
  now: () => number;
};

const bound = coverageSchema.window.shape.start_time.nullable();

const described = {
  window: z.object({ start_time: bound, end_time: bound }).meta({ description: "null: no bound." }),
  environment: coverageSchema.environment,
  filters_data: z.record(z.string(), z.unknown()),
  current_filters: z.unknown(),
  warnings: coverageSchema.warnings,
};

export const listCustomers = (deps: ListDeps) =>
  endpoint({
    id: "list_customers",
    method: "POST",
    path: "/api/users/list/",
    aliases: [{ method: "GET", path: "/api/users/list/" }],
    summary: "List customers",
    description:
      "Customers with the figures of their spans, over all time. With start_time or end_time: those with a span in the window, " +
      "and the figures of the spans in it. The environment is by default that of the key. " +
      `sort_by is one of ${customerSortFields.join(", ")}.`,
    tags: ["Customers"],
    auth: "key",
    permission: "customers:read",
    waitsInQueue: true,
    limit: "api",
    query: z.object({
      ...pagingQuery(),
      ...sortQuery("-first_seen"),
      ...selectionQuery(),
      fetch_filters: z.stringbool().optional().meta({ description: "Fills filters_data." }),
    }),
    body: { kind: "json", schema: filtersBody, example: { filters: { total_cost: { operator: "gte", value: [1] } } } },
    success: { status: 200, schema: pageOf(customerRow).extend(described) },
    errors: ["invalid_request", "query_too_large", "unavailable"],
    async handler({ principal, query, body, rawQuery, url, signal }) {
      const { page, page_size: pageSize } = query;
      const scope = {
        organization_id: principal.organization_id,
        ...environmentOf(requestedEnvironment(query), principal),
      };
      const window = readWindow(query, deps.now());
      const catalogue = deps.customerCatalogue;
      const { filter, warnings } = readFilters({ body, query, rawQuery }, catalogue);
      const condition = toGroupFilter(filter, catalogue);
      const sort = readSort(query.sort_by);
      const { count, keys } = await deps.spans.listCustomers(
        { scope, window, condition, sort, page, pageSize },
        signal,
      );
      const { organization_id } = scope;
      const results = await rowsOf(
        deps,
        { scope, window, keys: keys.map((key) => ({ organization_id, ...key })) },
        signal,
      );
      return {
        ...paginate({ url, page, pageSize, count, results }),
        window: {
          start_time: window === undefined || window.fromNs === minTimeNs ? null : formatTimeNs(window.fromNs),
          end_time: window === undefined || window.toNs === maxTimeNs ? null : formatTimeNs(window.toNs),
        },
        environment: scope.environment ?? ("all" as const),
        filters_data: query.fetch_filters === true ? describeFields(deps.customerCatalogue) : {},
        current_filters: body.filters ?? {},
        ...(warnings.length > 0 && { warnings }),
      };
    },
  });

type Page = Pick<ListCustomersQuery, "scope" | "window"> & { keys: readonly CustomerKey[] };

/** Profiles come from the control store, so that recent changes show. */
async function rowsOf({ customers, spans, now }: ListDeps, { scope, window, keys }: Page, signal: AbortSignal) {
  const identifiers = [...new Set(keys.map((key) => key.customer_identifier))];
  const [profiles, stated] = await Promise.all([
    customers.findMany(keys),
    spans.describeCustomers({ scope, identifiers, window }, signal),
  ]);
  const { organization_id } = scope;
  const profileOf = new Map(profiles.map((customer) => [customerKeyText(customer), customer]));
  const statedOf = new Map(stated.map((row) => [customerKeyText({ organization_id, ...row }), row]));
  return keys.flatMap((key) => {
    const customer = profileOf.get(customerKeyText(key));
    return customer === undefined ? [] : [presentRow(customer, statedOf.get(customerKeyText(key)), now())];
  });
}

function environmentOf(
  environment: "prod" | "test" | "all" | undefined,
  principal: { environment: "prod" | "test" },
): { environment?: "prod" | "test" } {
  return environment === "all" ? {} : { environment: environment ?? principal.environment };
}

/** No default window: without a start or an end, a list covers all time. */
function readWindow(
  query: { start_time: bigint | undefined; end_time: bigint | undefined },
  nowMs: number,
): TimeWindow | undefined {
  const { start_time, end_time } = query;
  if (start_time === undefined && end_time === undefined) return undefined;
  const { startNs, endNs } = timeWindow(
    { start_time: start_time ?? minTimeNs, end_time: end_time ?? maxTimeNs },
    nowMs,
  );
  return { fromNs: startNs, toNs: endNs };
}

function readSort(sortBy: string): ListCustomersQuery["sort"] {
  const descending = sortBy.startsWith("-");
  const name = descending ? sortBy.slice(1) : sortBy;
  const field = customerSortFields.find((known) => known === (sortAliases[name] ?? name));
  if (field !== undefined) return { field, descending };
  const message = `sort_by must be one of ${customerSortFields.join(", ")}, with or without a leading -`;
  throw new ServiceError("invalid_request", message, { errors: { sort_by: [message] } });
}

const sortAliases: Readonly<Record<string, string>> = {
  total_requests: "number_of_requests",
  tokens: "total_tokens",
  cost: "total_cost",
  last_active_timeframe: "last_active",
};
