import { useMutation, useQueryClient } from "@tanstack/react-query";
import { bodyOf } from "../../api/client.ts";
import { useApi, useEnvironment } from "../../api/use-api.ts";
import { useEmail } from "../../api/use-me.ts";

export type SpanChange = { note?: string | null; is_pinned?: boolean; positive_feedback?: boolean | null };
export type ScoreValue = {
  numerical_value?: number;
  boolean_value?: boolean;
  string_value?: string;
  categorical_value?: string[];
};

const rowsPerRequest = 500;

/** Sets notes, pins and feedback of many spans. Returns the errors of those that were not changed. */
export function useBulkChange() {
  const api = useApi();
  const reload = useReloadLists();
  return useMutation({
    mutationFn: async ({ ids, change }: { ids: readonly string[]; change: SpanChange }) => {
      const problems: string[] = [];
      for (let at = 0; at < ids.length; at += rowsPerRequest) {
        const logs = ids.slice(at, at + rowsPerRequest).map((unique_id) => ({ unique_id, ...change }));
        const { errors } = await bodyOf(api.PATCH("/api/request-logs/batch-update/", { body: { logs } }));
        problems.push(...errors.map(({ error }) => error));
      }
      return { changed: ids.length - problems.length, problems };
    },
    onSuccess: reload,
  });
}

type ScoreChange = {
  ids: readonly string[];
  /** Those without the score yet: another attempt continues with them. */
  left: string[];
  evaluatorId: string;
  value: ScoreValue;
};

/** Adds one score to each of many spans. Stops at the first rejected one. */
export function useBulkScore() {
  const api = useApi();
  const scorer = useEmail();
  const reload = useReloadLists();
  return useMutation({
    mutationFn: async ({ ids, left, evaluatorId, value }: ScoreChange) => {
      for (let id = left[0]; id !== undefined; id = left[0]) {
        await api.POST("/api/scores/", { body: { log_id: id, evaluator_id: evaluatorId, scorer, ...value } });
        left.shift();
      }
      return { changed: ids.length, problems: [] as string[] };
    },
    onSettled: reload,
  });
}

function useReloadLists(): () => Promise<void> {
  const queries = useQueryClient();
  const environment = useEnvironment();
  return () => queries.invalidateQueries({ queryKey: [environment, "logs"] });
}
