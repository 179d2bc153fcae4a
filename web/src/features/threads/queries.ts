import { useInfiniteQuery } from "@tanstack/react-query";
import { bodyOf } from "../../api/client.ts";
import type { components } from "../../api/schema.gen.ts";
import { useApi, useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { isRecord, parseExactly } from "../../lib/exact-json.ts";
import type { ThreadSort } from "./search.ts";

export type Thread = components["schemas"]["Thread"];
export type SpanRow = Readonly<Record<string, unknown>>;

type ThreadsQuery = { start: string; end: string; find: string | undefined; sort: ThreadSort };

const threadsAtOnce = 100;
const spansAtOnce = 100;
/** The start time of a thread opened by a link is unknown. */
const ever = "2000-01-01T00:00:00Z";

/** Threads with a span in the window, page by page. */
export function useThreads({ start, end, find, sort }: ThreadsQuery) {
  const api = useApi();
  const environment = useEnvironment();
  return useInfiniteQuery({
    queryKey: [environment, "threads", "list", start, end, find, sort],
    initialPageParam: 1,
    queryFn: ({ pageParam, signal }) => {
      const query = { start_time: start, end_time: end, sort_by: sort, page: pageParam, page_size: threadsAtOnce };
      const body = { filters: find === undefined ? {} : findFilter(find) };
      return bodyOf(api.POST("/api/log_threads/", { params: { query }, body, signal }));
    },
    getNextPageParam: ({ next }, pages) => (next === null ? undefined : pages.length + 1),
    placeholderData: (before) => before,
  });
}

function findFilter(text: string) {
  const condition = { operator: "icontains", value: [text] };
  return { connector: "OR", filter_params: [{ thread_identifier: condition }, { customer_identifier: condition }] };
}

/** The messages and costs of a thread's turns; each message only in the first span that contains it. */
const turnFields = [
  "unique_id,timestamp,start_time,latency,log_type,span_name,model,trace_unique_id,span_parent_id,customer_identifier",
  "counted_cost,counted_tokens,unpriced,failed,status_code,error_message,new_messages",
].join(",");

/** The spans of a thread, oldest first. */
export function useThreadSpans(thread: string) {
  const api = useApi();
  const environment = useEnvironment();
  return useInfiniteQuery({
    queryKey: [environment, "threads", "spans", thread],
    initialPageParam: 1,
    queryFn: async ({ pageParam, signal }) => {
      const query = {
        start_time: ever,
        environment,
        sort_by: "timestamp",
        page: pageParam,
        page_size: spansAtOnce,
        include_fields: turnFields,
      };
      const body = { filters: { thread_identifier: { operator: "", value: [thread] } } };
      return rowsOf(
        await bodyOf(api.POST("/api/request-logs/list/", { params: { query }, body, signal, parseAs: "text" })),
      );
    },
    getNextPageParam: ({ hasMore }, pages) => (hasMore ? pages.length + 1 : undefined),
  });
}

const wrapperTypes = ["agent", "workflow", "task", "custom", "handoff"];

/** Input and output of the spans around model calls, for turns whose model calls are not in the thread. */
export function useThreadWrappers(thread: string, isEnabled: boolean) {
  const environment = useEnvironment();
  return useApiQuery(
    ["threads", "wrappers", thread],
    async (api, signal) => {
      const query = {
        start_time: ever,
        environment,
        sort_by: "timestamp",
        page_size: spansAtOnce,
        include_fields: "unique_id,trace_unique_id,span_parent_id,input,output",
      };
      const filters = {
        thread_identifier: { operator: "", value: [thread] },
        log_type: { operator: "in", value: wrapperTypes },
      };
      const text = await bodyOf(
        api.POST("/api/request-logs/list/", { params: { query }, body: { filters }, signal, parseAs: "text" }),
      );
      return rowsOf(text).rows;
    },
    { enabled: isEnabled, staleTime: 60_000 },
  );
}

function rowsOf(text: string): { rows: SpanRow[]; count: number; hasMore: boolean } {
  const answer = parseExactly(text);
  if (!isRecord(answer)) return { rows: [], count: 0, hasMore: false };
  const rows = Array.isArray(answer["results"]) ? (answer["results"] as unknown[]).filter(isRecord) : [];
  const count = typeof answer["count"] === "number" ? answer["count"] : rows.length;
  return { rows, count, hasMore: typeof answer["next"] === "string" };
}
