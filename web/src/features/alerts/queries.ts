import { keepPreviousData, useMutation, useQueryClient } from "@tanstack/react-query";
import { bodyOf, type Api } from "../../api/client.ts";
import type { components, operations } from "../../api/schema.gen.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { useApi, useApiQuery, useEnvironment } from "../../api/use-api.ts";

export type Alert = components["schemas"]["Alert"];
export type AlertDetails = operations["retrieve_alert"]["responses"][200]["content"]["application/json"];
export type HistoryEntry = components["schemas"]["AlertHistoryEntry"];
export type Channel = components["schemas"]["AlertChannel"];
export type TestResult = operations["test_alert"]["responses"][200]["content"]["application/json"]["results"][number];
export type NewAlert = NonNullable<operations["create_alert"]["requestBody"]>["content"]["application/json"];
export type AlertChange = NonNullable<operations["update_alert"]["requestBody"]>["content"]["application/json"];

/** Alerts are evaluated every minute. */
const refreshMs = 30_000;

/** The most alerts that an organization may have. */
const alertsMax = 200;

/** The alerts of the environment in the URL. */
export function useAlerts() {
  const environment = useEnvironment();
  const query = { page: 1, page_size: alertsMax };
  return useApiQuery(
    ["alerts"],
    async (api, signal) => {
      const { results } = await bodyOf(api.GET("/api/alerts/", { params: { query }, signal }));
      return results.filter((alert) => alert.environment === environment);
    },
    { refetchInterval: refreshMs },
  );
}

export function useAlert(id: string) {
  return useApiQuery(
    ["alert", id],
    (api, signal) => bodyOf(api.GET("/api/alerts/{id}/", { params: { path: { id } }, signal })),
    { refetchInterval: refreshMs },
  );
}

export const historyPageSize = 20;

export function useHistory(id: string, page: number) {
  const query = { page, page_size: historyPageSize };
  return useApiQuery(
    ["alert history", id, page],
    (api, signal) => bodyOf(api.GET("/api/alerts/{id}/history/", { params: { path: { id }, query }, signal })),
    { refetchInterval: refreshMs, placeholderData: keepPreviousData },
  );
}

/** Choices of evaluators whose scores can be compared with a threshold. */
export function useEvaluatorChoices() {
  const query = { page: 1, page_size: 100 };
  return useApiQuery(["evaluator choices"], async (api, signal) => {
    const { results } = await bodyOf(api.GET("/api/evaluators/", { params: { query }, signal }));
    return results
      .filter(({ score_value_type: type }) => ["numerical", "percentage", "boolean"].includes(type))
      .map(({ evaluator_slug: value, name }) => ({ value, label: visibleLine(name) }));
  });
}

const names = new Set<unknown>(["alerts", "alert", "alert history"]);

function useChange<In, Out>(change: (api: Api, given: In) => Promise<Out>) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (given: In) => change(api, given),
    onSuccess: () => queries.invalidateQueries({ predicate: ({ queryKey }) => names.has(queryKey[1]) }),
  });
}

export const useCreateAlert = () => useChange((api, body: NewAlert) => bodyOf(api.POST("/api/alerts/", { body })));

export const useUpdateAlert = () =>
  useChange((api, { id, body }: { id: string; body: AlertChange }) =>
    bodyOf(api.PATCH("/api/alerts/{id}/", { params: { path: { id } }, body })),
  );

export const useTestAlert = () =>
  useChange((api, id: string) => bodyOf(api.POST("/api/alerts/{id}/test/", { params: { path: { id } } })));

export function useDeleteAlert(onDeleted: () => void) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (id: string) => {
      await api.DELETE("/api/alerts/{id}/", { params: { path: { id } } });
    },
    onSuccess: async () => {
      onDeleted();
      await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === "alerts" });
    },
  });
}
