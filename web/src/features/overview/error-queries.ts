import { bodyOf } from "../../api/client.ts";
import { useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { figureOptions, filtersOf, useTimeseries, type Scope } from "../series/queries.ts";
import { failedTerm } from "../series/terms.ts";
import { rowsMax } from "./table-frame.tsx";

/** Identifies a kind of error. */
export const keyOf = (name: unknown, code: unknown): string => JSON.stringify([name ?? "", code ?? null]);

/** The number of affected customers for each kind of error. */
export function useCustomersOfErrors(scope: Scope): ReadonlyMap<string, number> {
  const { data } = useTimeseries(scope, {
    metrics: ["error_count", "number_of_customers"],
    groupBy: "span_name,status_code",
    // More than the table shows: among equal counts, this list may have other kinds than the table.
    top: 2 * rowsMax,
    more: [failedTerm],
    interval: "1d",
  });
  const series = data?.series ?? [];
  return new Map(
    series.map(({ group, totals }) => [
      keyOf(group["span_name"], group["status_code"]),
      totals["number_of_customers"] ?? 0,
    ]),
  );
}

/** The newest message of a kind of error, and how many different messages there are besides. */
export type NewestError = { message: string; others: number };

/** The messages of each kind of error, among the newest hundred failures. */
export function useNewestErrors(scope: Scope): ReadonlyMap<string, NewestError> {
  const { window, query: typed } = scope;
  const environment = useEnvironment();
  const filters = filtersOf(typed, [failedTerm, { type: "has", field: "error_message", negated: false }]);
  const query = {
    start_time: window.start,
    end_time: window.end,
    environment,
    page_size: 100,
    include_fields: "span_name,status_code,error_message",
    sort_by: "-timestamp",
  };
  const key = ["newest errors", query, filters];
  const list = useApiQuery(
    key,
    (api, signal) => bodyOf(api.POST("/api/request-logs/list/", { params: { query }, body: { filters }, signal })),
    figureOptions(environment, key, scope),
  );
  return messagesOf(list.data?.results ?? []);
}

type Failure = { span_name?: unknown; status_code?: unknown; error_message?: unknown };

/** @param failures the newest first */
export function messagesOf(failures: readonly Failure[]): ReadonlyMap<string, NewestError> {
  const found = new Map<string, Set<string>>();
  for (const { span_name, status_code, error_message: message } of failures) {
    const key = keyOf(span_name, status_code);
    const messages = found.get(key) ?? new Set();
    found.set(key, messages.add(visibleLine((typeof message === "string" ? message : "").slice(0, 300))));
  }
  return new Map([...found].map(([key, [message = "", ...others]]) => [key, { message, others: others.length }]));
}
