import { useMutation, useQueryClient } from "@tanstack/react-query";
import { bodyOf } from "../../api/client.ts";
import { useApi, useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { useEmail } from "../../api/use-me.ts";
import { inputsOf, logInputFields } from "../../lib/log-inputs.ts";
import type { components } from "../../api/schema.gen.ts";

export type Score = components["schemas"]["Score"];
export type Evaluator = components["schemas"]["Evaluator"];

const evaluatorsAtOnce = 100;

export function useScores(spanId: string) {
  return useApiQuery(["span", spanId, "scores"], async (api, signal) => {
    const params = { path: { log_id: spanId }, query: { page_size: 100 } };
    const { results } = await bodyOf(api.GET("/api/logs/{log_id}/scores/", { params, signal }));
    return results;
  });
}

export function useEvaluators(isEnabled: boolean) {
  return useApiQuery(
    ["evaluators", "to score"],
    async (api, signal) => {
      const params = { query: { page_size: evaluatorsAtOnce } };
      const { results } = await bodyOf(api.GET("/api/evaluators/", { params, signal }));
      return results;
    },
    { enabled: isEnabled },
  );
}

export function useAddScore(spanId: string) {
  const api = useApi();
  const scorer = useEmail();
  const invalidate = useInvalidateScores(spanId);
  return useMutation({
    mutationFn: (given: Record<string, unknown> & { evaluator_id: string }) => {
      const body = { ...given, scorer };
      return bodyOf(api.POST("/api/logs/{log_id}/scores/", { params: { path: { log_id: spanId } }, body }));
    },
    onSuccess: invalidate,
  });
}

/** Updates the given members of a score; the person who changes it becomes its scorer. */
export function useChangeScore(spanId: string) {
  const api = useApi();
  const scorer = useEmail();
  const invalidate = useInvalidateScores(spanId);
  return useMutation({
    mutationFn: ({ scoreId, body }: { scoreId: string; body: Record<string, unknown> }) => {
      const params = { path: { log_id: spanId, score_id: scoreId } };
      return bodyOf(api.PATCH("/api/logs/{log_id}/scores/{score_id}/", { params, body: { ...body, scorer } }));
    },
    onSuccess: invalidate,
  });
}

/** Runs the score's evaluator again in its current form, and replaces the score with the result. */
export function useScoreAgain(spanId: string) {
  const api = useApi();
  const invalidate = useInvalidateScores(spanId);
  return useMutation({
    mutationFn: async ({ id, evaluator_id }: Pick<Score, "id" | "evaluator_id">) => {
      const query = { include_fields: logInputFields };
      const log = await bodyOf(
        api.GET("/api/request-logs/{unique_id}/", { params: { path: { unique_id: spanId }, query } }),
      );
      const run = await bodyOf(
        api.POST("/api/evaluators/{evaluator_id}/run/", {
          params: { path: { evaluator_id } },
          body: { inputs: inputsOf(log) },
        }),
      );
      if (run.status === "failed") throw new Error(run.error_message ?? "The evaluation failed.");
      const { numerical_value, boolean_value, string_value, categorical_value, json_value, explanation } = run;
      const body = { numerical_value, boolean_value, string_value, categorical_value, json_value, explanation };
      const params = { path: { log_id: spanId, score_id: id } };
      return bodyOf(api.PUT("/api/logs/{log_id}/scores/{score_id}/", { params, body }));
    },
    onSuccess: invalidate,
  });
}

export function useDeleteScore(spanId: string) {
  const api = useApi();
  const invalidate = useInvalidateScores(spanId);
  return useMutation({
    mutationFn: (scoreId: string) =>
      api.DELETE("/api/logs/{log_id}/scores/{score_id}/", { params: { path: { log_id: spanId, score_id: scoreId } } }),
    onSuccess: invalidate,
  });
}

function useInvalidateScores(spanId: string): () => void {
  const queries = useQueryClient();
  const environment = useEnvironment();
  return () => {
    void queries.invalidateQueries({ queryKey: [environment, "span", spanId, "scores"] });
    void queries.invalidateQueries({ queryKey: [environment, "logs"] });
    void queries.invalidateQueries({ queryKey: [environment, "timeseries"] });
  };
}
