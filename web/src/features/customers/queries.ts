import { useMutation, useQueryClient } from "@tanstack/react-query";
import { bodyOf, type Api, type Environment } from "../../api/client.ts";
import { useApi, useApiQuery, useEnvironment } from "../../api/use-api.ts";
import type { Window } from "../../charts/use-window.ts";
import { figureOptions } from "../series/queries.ts";
import { conflictsOf, type CustomerFields } from "./budget-form.ts";
import type { SortBy } from "./search.ts";

export const pageSize = 50;

type ListOptions = {
  window: Window;
  /** Whether figures cover all time, not the window. */
  isOfAllTime: boolean;
  find: string;
  sort: SortBy;
  page: number;
};

export function useCustomers({ window, isOfAllTime, find, sort, page }: ListOptions) {
  const environment = useEnvironment();
  const filters = find === "" ? {} : textFilters(find);
  const query = {
    ...(!isOfAllTime && { start_time: window.start, end_time: window.end }),
    environment,
    sort_by: sort,
    page,
    page_size: pageSize,
  };
  const key = ["customers", query, filters];
  return useApiQuery(
    key,
    (api, signal) => bodyOf(api.POST("/api/users/list/", { params: { query }, body: { filters }, signal })),
    { ...figureOptions(environment, key, { window }), ...(isOfAllTime && { meta: {} }) },
  );
}

const foundMax = 1000;

/** The ids of all customers that match a search. Throws if there are more than an export may contain. */
export async function findCustomerIds(api: Api, environment: Environment, find: string): Promise<string[]> {
  const query = { environment, page_size: foundMax };
  const found = await bodyOf(api.POST("/api/users/list/", { params: { query }, body: { filters: textFilters(find) } }));
  if (found.count <= foundMax) return found.results.map((row) => row.customer_identifier);
  throw new Error(`The search finds ${found.count} customers; narrow it to fewer than ${foundMax + 1}.`);
}

/** Matches customers by a text in their id, name or e-mail address. */
function textFilters(find: string) {
  const condition = { operator: "icontains", value: [find] };
  return {
    connector: "OR",
    filter_params: ["customer_identifier", "name", "email"].map((field) => ({ [field]: condition })),
  };
}

export function useCustomer(customer_identifier: string) {
  return useApiQuery(
    ["customer", customer_identifier],
    (api, signal) =>
      bodyOf(api.GET("/api/users/{customer_identifier}/", { params: { path: { customer_identifier } }, signal })),
    { staleTime: 30_000 },
  );
}

export class EditConflict extends Error {
  readonly fields: readonly string[];
  readonly current: CustomerFields;

  constructor(fields: readonly string[], current: CustomerFields) {
    super(`Somebody else changed ${fields.join(", ")} meanwhile.`);
    this.fields = fields;
    this.current = current;
  }
}

type Edit = { base: CustomerFields; change: Partial<CustomerFields> };

/** Changes fields. Throws an `EditConflict` if they differ from the values that the form was loaded with. */
export function useUpdateCustomer(customer_identifier: string) {
  const api = useApi();
  const queries = useQueryClient();
  const environment = useEnvironment();
  const params = { path: { customer_identifier } };
  return useMutation({
    mutationFn: async ({ base, change }: Edit) => {
      const current = await bodyOf(api.GET("/api/users/{customer_identifier}/", { params }));
      const conflicts = conflictsOf(base, current, change);
      if (conflicts.length > 0) throw new EditConflict(conflicts, current);
      return await bodyOf(api.PATCH("/api/users/{customer_identifier}/", { params, body: change }));
    },
    onSuccess: async (customer) => {
      queries.setQueryData([environment, "customer", customer_identifier], customer);
      await queries.invalidateQueries({ queryKey: [environment, "customers"] });
    },
  });
}

export function useDeleteCustomer(customer_identifier: string, onDeleted: () => void) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      await api.DELETE("/api/users/{customer_identifier}/", { params: { path: { customer_identifier } } });
    },
    onSuccess: async () => {
      onDeleted();
      // The customer's spans no longer name it: every figure by customer is out of date. The next screen refetches.
      await queries.invalidateQueries({ refetchType: "none" });
    },
  });
}
