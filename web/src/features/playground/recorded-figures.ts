import { bodyOf } from "../../api/client.ts";
import { useApiQuery } from "../../api/use-api.ts";
import type { Answer } from "./answer.ts";
import type { Run } from "./use-runs.ts";

export type RunFigures = Pick<Answer, "cost" | "latency" | "promptTokens" | "completionTokens">;

const members = "cost,latency,prompt_tokens,completion_tokens";

/**
 * The cost and duration of a call. A call that ended without figures gets those of its span, so that they equal those
 * in the logs; undefined while they are loaded.
 */
export function useRunFigures({ state, answer, spanId }: Run): RunFigures | undefined {
  const isBroken = (state === "failed" || state === "stopped") && spanId !== undefined;
  const { data, isPending } = useApiQuery(
    ["span", spanId ?? "", "figures"],
    async (api, signal): Promise<RunFigures> => {
      const params = { path: { unique_id: spanId ?? "" }, query: { include_fields: members } };
      const span = await bodyOf(api.GET("/api/request-logs/{unique_id}/", { params, signal }));
      return {
        cost: numberOf(span.cost),
        latency: numberOf(span.latency),
        promptTokens: numberOf(span.prompt_tokens),
        completionTokens: numberOf(span.completion_tokens),
      };
    },
    { enabled: isBroken, staleTime: Number.POSITIVE_INFINITY },
  );
  if (!isBroken) return answer;
  return isPending ? undefined : (data ?? answer);
}

const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
