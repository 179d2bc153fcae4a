import { choiceOf, textOf } from "../../lib/search.ts";

export const customerSorts = [
  "customer_identifier",
  "number_of_requests",
  "total_cost",
  "total_tokens",
  "error_count",
  "last_active",
] as const;
export type CustomerSort = (typeof customerSorts)[number];
export type SortBy = CustomerSort | `-${CustomerSort}`;

export type CustomersSearch = {
  /** Text in the id, the name or the e-mail address. */
  find?: string | undefined;
  sort?: SortBy | undefined;
  page?: number | undefined;
  /** Shows all customers, also those without a span in the window. */
  all?: "1" | undefined;
};

const sorts: readonly SortBy[] = customerSorts.flatMap((name): SortBy[] => [name, `-${name}`]);

export function parseCustomersSearch(search: Record<string, unknown>): CustomersSearch {
  const find = textOf(search, "find");
  const sort = choiceOf(search, "sort", sorts);
  const page = Number(textOf(search, "page") ?? 1);
  const all = textOf(search, "all");
  return {
    ...(find && { find }),
    ...(sort && { sort }),
    ...(Number.isInteger(page) && page > 1 && { page }),
    ...(all === "1" && { all }),
  };
}

export type CustomerSearch = { view?: "table" | undefined };

export function parseCustomerSearch(search: Record<string, unknown>): CustomerSearch {
  const view = choiceOf(search, "view", ["table"]);
  return view === undefined ? {} : { view };
}
