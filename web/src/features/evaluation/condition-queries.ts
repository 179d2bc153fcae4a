import { keepPreviousData } from "@tanstack/react-query";
import { bodyOf } from "../../api/client.ts";
import type { components, operations } from "../../api/schema.gen.ts";
import { useApiQuery, useEnvironment } from "../../api/use-api.ts";
import type { Window } from "../../charts/use-window.ts";
import { useChange } from "./use-change.ts";

export type Condition = components["schemas"]["Condition"];
type NewCondition = NonNullable<operations["create_condition"]["requestBody"]>["content"]["application/json"];

/** The most conditions that an organization may have. */
const conditionsMax = 1000;

export function useConditions() {
  return useApiQuery(["conditions"], async (api, signal) => {
    const query = { page_size: conditionsMax };
    const { results } = await bodyOf(api.GET("/automation/conditions/", { params: { query }, signal }));
    return results;
  });
}

export function useCondition(condition_id: string, isEnabled: boolean) {
  return useApiQuery(
    ["condition", condition_id],
    (api, signal) =>
      bodyOf(api.GET("/automation/conditions/{condition_id}/", { params: { path: { condition_id } }, signal })),
    { enabled: isEnabled },
  );
}

type Save = { id: string | undefined; body: Record<string, unknown> };

/** Creates a condition, or updates the one with the id. `body` comes from the form; the server validates it. */
export function useSaveCondition() {
  return useChange("condition", (api, { id, body }: Save): Promise<Condition> => {
    if (id === undefined) return bodyOf(api.POST("/automation/conditions/", { body: body as NewCondition }));
    const params = { path: { condition_id: id } };
    return bodyOf(api.PATCH("/automation/conditions/{condition_id}/", { params, body }));
  });
}

export function useDeleteCondition() {
  return useChange("condition", async (api, condition_id: string) => {
    await api.DELETE("/automation/conditions/{condition_id}/", { params: { path: { condition_id } } });
    return undefined;
  });
}

const shownMatches = 5;
const refreshMs = 30_000;

/** The number of matching logs in the window, and the newest of them. */
export function useMatches(filters: Record<string, unknown> | undefined, { start, end, isMoving }: Window) {
  const environment = useEnvironment();
  const query = {
    start_time: start,
    end_time: end,
    environment,
    page_size: shownMatches,
    sort_by: "-timestamp",
    include_fields: "unique_id,timestamp,span_name,model,log_type,status",
  };
  return useApiQuery(
    ["logs", "matches", query, filters],
    (api, signal) =>
      bodyOf(api.POST("/api/request-logs/list/", { params: { query }, body: { filters: filters ?? {} }, signal })),
    {
      enabled: filters !== undefined,
      placeholderData: keepPreviousData,
      retry: false,
      refetchInterval: isMoving ? refreshMs : false,
    },
  );
}
