import { keepPreviousData, useMutation, useQueryClient } from "@tanstack/react-query";
import { bodyOf } from "../../api/client.ts";
import type { operations } from "../../api/schema.gen.ts";
import { useApi, useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { inputsOf, logInputFields } from "../../lib/log-inputs.ts";
import type { Evaluator } from "./draft.ts";

export type RunResult = operations["run_evaluator"]["responses"][200]["content"]["application/json"];
type NewEvaluator = NonNullable<operations["create_evaluator"]["requestBody"]>["content"]["application/json"];

export const pageSize = 50;
const versionsAtOnce = 100;

export function useEvaluatorPage(page: number, size = pageSize) {
  const query = { page, page_size: size };
  return useApiQuery(
    ["evaluators", query],
    (api, signal) => bodyOf(api.GET("/api/evaluators/", { params: { query }, signal })),
    { placeholderData: keepPreviousData },
  );
}

export function useEvaluator(evaluator_id: string, isEnabled: boolean) {
  return useApiQuery(
    ["evaluator", evaluator_id],
    (api, signal) => bodyOf(api.GET("/api/evaluators/{evaluator_id}/", { params: { path: { evaluator_id } }, signal })),
    { enabled: isEnabled },
  );
}

/** Creates an evaluator, or updates the one with the id. `body` comes from `readDraft`; the server validates it. */
export function useSaveEvaluator() {
  const api = useApi();
  const queries = useQueryClient();
  const environment = useEnvironment();
  return useMutation({
    mutationFn: ({ id, body }: { id: string | undefined; body: Record<string, unknown> }): Promise<Evaluator> => {
      if (id === undefined) return bodyOf(api.POST("/api/evaluators/", { body: body as NewEvaluator }));
      return bodyOf(api.PATCH("/api/evaluators/{evaluator_id}/", { params: { path: { evaluator_id: id } }, body }));
    },
    onSuccess: (evaluator) => {
      queries.setQueryData([environment, "evaluator", evaluator.id], evaluator);
      void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === "evaluators" });
    },
  });
}

export function useDeleteEvaluator() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (evaluator_id: string) => {
      await api.DELETE("/api/evaluators/{evaluator_id}/", { params: { path: { evaluator_id } } });
    },
    onSuccess: () => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === "evaluators" }),
  });
}

export function useVersions(evaluator_id: string) {
  return useApiQuery(["evaluator", evaluator_id, "versions"], (api, signal) => {
    const params = { path: { evaluator_id }, query: { page_size: versionsAtOnce } };
    return bodyOf(api.GET("/api/evaluators/{evaluator_id}/versions/", { params, signal }));
  });
}

export function useFreezeVersion(evaluator_id: string) {
  const api = useApi();
  const queries = useQueryClient();
  const environment = useEnvironment();
  return useMutation({
    mutationFn: (version_description: string) =>
      bodyOf(
        api.POST("/api/evaluators/{evaluator_id}/versions/", {
          params: { path: { evaluator_id } },
          body: { version_description },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: [environment, "evaluator", evaluator_id, "versions"] }),
  });
}

/** The newest logs to choose from. */
export function useNewestLogs() {
  return useApiQuery(["logs", "to try evaluators on"], (api, signal) => {
    const query = {
      page_size: 20,
      sort_by: "-timestamp",
      include_fields: "unique_id,timestamp,span_name,model,log_type",
    };
    return bodyOf(api.POST("/api/request-logs/list/", { params: { query }, body: { filters: {} }, signal }));
  });
}

export function useLogInputs(unique_id: string) {
  return useApiQuery(
    ["span", unique_id, "inputs"],
    async (api, signal) => {
      const params = { path: { unique_id }, query: { include_fields: logInputFields } };
      return inputsOf(await bodyOf(api.GET("/api/request-logs/{unique_id}/", { params, signal })));
    },
    { enabled: unique_id !== "", retry: false },
  );
}

type Trial = { id: string; inputs: ReturnType<typeof inputsOf> };

export function useRunEvaluator() {
  const api = useApi();
  return useMutation({
    mutationFn: ({ id, inputs }: Trial) =>
      bodyOf(
        api.POST("/api/evaluators/{evaluator_id}/run/", { params: { path: { evaluator_id: id } }, body: { inputs } }),
      ),
  });
}
