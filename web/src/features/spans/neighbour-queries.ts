import { bodyOf } from "../../api/client.ts";
import { useApiQuery } from "../../api/use-api.ts";
import { isRecord } from "../../lib/exact-json.ts";
import { nameOf, textOf, type Span } from "./span-record.ts";

export type Neighbour = { id: string; name: string };
export type Neighbours = { within: "thread" | "trace"; before: Neighbour | undefined; after: Neighbour | undefined };

const dayMs = 86_400_000;
/** How far away a neighbour is searched. */
const reachDays = 7;

/** The previous and the next span of the thread, or of the trace if there is no thread. */
export function useNeighbours(id: string, span: Span) {
  const place = placeOf(span);
  const end = textOf(span, "timestamp");
  return useApiQuery<Neighbours | undefined>(
    ["span", id, "neighbours"],
    async (api, signal) => {
      if (place === undefined || end === undefined) return undefined;
      const fetchNeighbour = async (direction: "before" | "after"): Promise<Neighbour | undefined> => {
        const at = new Date(end).getTime();
        const edge = new Date(at + (direction === "before" ? -1 : 1) * reachDays * dayMs).toISOString();
        const query = {
          start_time: direction === "before" ? edge : end,
          end_time: direction === "before" ? new Date(at + 1).toISOString() : edge,
          sort_by: direction === "before" ? "-timestamp" : "timestamp",
          include_fields: "span_name,model,log_type",
          page_size: 2,
        };
        const filters = {
          [place.field]: { operator: "", value: [place.value] },
          environment: { operator: "", value: [textOf(span, "environment") ?? "prod"] },
        };
        const answer = await bodyOf(
          api.POST("/api/request-logs/list/", { params: { query }, body: { filters }, signal }),
        );
        const found = answer.results.filter(isRecord).find((row) => row["unique_id"] !== id);
        return found && { id: textOf(found, "unique_id") ?? "", name: nameOf(found) };
      };
      const [before, after] = await Promise.all([fetchNeighbour("before"), fetchNeighbour("after")]);
      return { within: place.within, before, after };
    },
    { staleTime: 60_000 },
  );
}

function placeOf(span: Span): { within: "thread" | "trace"; field: string; value: string } | undefined {
  const thread = textOf(span, "thread_identifier");
  if (thread !== undefined) return { within: "thread", field: "thread_identifier", value: thread };
  const trace = textOf(span, "trace_unique_id");
  return trace === undefined ? undefined : { within: "trace", field: "trace_unique_id", value: trace };
}
