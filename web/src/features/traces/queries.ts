import { useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useEffect } from "react";
import { bodyOf, type Api } from "../../api/client.ts";
import { useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { tableFields } from "./model/read-spans.ts";
import { nextPollMs } from "./model/polling.ts";
import type { TraceHeader, TraceModel } from "./model/trace-model.ts";
import { parseTrace, type TraceBody } from "./parse-trace.ts";

const treeKey = (id: string) => ["traces", id, "tree"] as const;
const figuresKey = (id: string) => ["traces", id, "figures"] as const;

const fields = tableFields.join(",");

/** A trace with its tree, without the inputs and outputs of its spans. */
export function useTrace(id: string): UseQueryResult<TraceModel> {
  const fetchTrace = async (api: Api, signal: AbortSignal) => {
    const params = { path: { trace_unique_id: id }, query: { tree: "table" as const, include_fields: fields } };
    const answer = api.GET("/api/traces/{trace_unique_id}/", { params, signal, parseAs: "stream" });
    return await parseTrace(await bodyOf<TraceBody>(answer), signal);
  };
  // Deep comparison of columns would take long.
  return useApiQuery(treeKey(id), fetchTrace, { structuralSharing: false, gcTime: 60_000 });
}

type PollState = { says: string; unchanged: number; tookMs: number };

/** While more spans may arrive, polls only the figures, and reloads the tree when they have changed. */
export function useLiveTrace(id: string, header: TraceHeader | undefined): void {
  const queries = useQueryClient();
  const environment = useEnvironment();
  const newestMs = Date.parse(header?.timestamp ?? "");
  const fetchTrace = async (api: Api, signal: AbortSignal): Promise<PollState> => {
    const params = { path: { trace_unique_id: id }, query: { tree: "flat" as const, page_size: 1 } };
    const started = performance.now();
    const figures = await bodyOf(api.GET("/api/traces/{trace_unique_id}/", { params, signal }));
    const says = fingerprint(figures as unknown as TraceHeader);
    const before = queries.getQueryData<PollState>([environment, ...figuresKey(id)]);
    const unchanged = before?.says === says ? before.unchanged + 1 : 0;
    return { says, unchanged, tookMs: performance.now() - started };
  };
  const query = useApiQuery(figuresKey(id), fetchTrace, {
    enabled: header !== undefined && nextPollMs({ nowMs: Date.now(), newestMs, unchanged: 0, tookMs: 0 }) !== false,
    staleTime: 0,
    retry: false,
    refetchInterval: ({ state: { data } }) => {
      const { unchanged, tookMs } = data ?? { unchanged: 0, tookMs: 0 };
      return nextPollMs({ nowMs: Date.now(), newestMs, unchanged, tookMs });
    },
  });
  const hasChanged = header !== undefined && query.data !== undefined && query.data.says !== fingerprint(header);
  useEffect(() => {
    if (hasChanged) void queries.invalidateQueries({ queryKey: [environment, ...treeKey(id)] });
  }, [hasChanged, query.dataUpdatedAt, queries, environment, id]);
}

/** Uses only sums of whole numbers: sums of dollars may differ by the order of addition. */
function fingerprint({ span_count, error_count, total_tokens, unpriced_count, timestamp }: TraceHeader): string {
  return [span_count, error_count, total_tokens, unpriced_count, timestamp].join(" ");
}
