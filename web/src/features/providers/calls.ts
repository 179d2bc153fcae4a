import { bodyOf } from "../../api/client.ts";
import { useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { windowOf } from "../../lib/range.ts";
import { filtersOf } from "../series/queries.ts";
import { failedTerm } from "../series/terms.ts";

export type Calls = { count: number; failed: number };
export type Failure = { spanId: string; message: string };

const refreshMs = 60_000;

/** Spans of the last 24 hours by provider. */
export function useCallsOfDay() {
  const environment = useEnvironment();
  return useApiQuery(
    ["providers", "calls"],
    async (api, signal) => {
      const { start, end } = windowOf({ range: "24h" });
      const query = { start_time: start, end_time: end, environment, group_by: "provider_id", page_size: 1000 };
      const { results } = await bodyOf(api.POST("/api/request-logs/groups/", { params: { query }, signal }));
      return new Map(
        results.map((row): [string, Calls] => [
          String(row["provider_id"]),
          { count: row.number_of_requests, failed: row.error_count },
        ]),
      );
    },
    { refetchInterval: refreshMs },
  );
}

/** The newest failure of each provider, among the newest hundred of the last 24 hours. */
export function useNewestFailures(isNeeded: boolean) {
  const environment = useEnvironment();
  return useApiQuery(
    ["providers", "failures"],
    async (api, signal) => {
      const { start, end } = windowOf({ range: "24h" });
      const query = {
        start_time: start,
        end_time: end,
        environment,
        page_size: 100,
        include_fields: "unique_id,provider_id,error_message",
        sort_by: "-timestamp",
      };
      const filters = filtersOf("", [failedTerm, { type: "has", field: "provider_id", negated: false }]);
      const body = { filters };
      const { results } = await bodyOf(api.POST("/api/request-logs/list/", { params: { query }, body, signal }));
      return new Map(
        results
          .toReversed()
          .map(({ unique_id: spanId, provider_id: provider, error_message: text }): [string, Failure] => [
            String(provider),
            { spanId: String(spanId), message: typeof text === "string" ? text.slice(0, 300) : "" },
          ]),
      );
    },
    { refetchInterval: refreshMs, enabled: isNeeded },
  );
}
