import { bodyOf } from "../../api/client.ts";
import { useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { figureOptions, filtersOf, type Scope } from "./queries.ts";

/** The metadata keys of the spans, most frequent first. */
export function useMetadataKeys(
  scope: Pick<Scope, "query"> & { window: Pick<Scope["window"], "start" | "end" | "isMoving"> },
): string[] {
  const { window, query: typed } = scope;
  const environment = useEnvironment();
  const filters = filtersOf(typed);
  const query = { start_time: window.start, end_time: window.end, environment, fields: "status", limit: 20 };
  const key = ["metadata keys", query, filters];
  const facets = useApiQuery(
    key,
    (api, signal) => bodyOf(api.POST("/api/request-logs/facets/", { params: { query }, body: { filters }, signal })),
    figureOptions(environment, key, scope),
  );
  return facets.data?.metadata_keys.map(({ key }) => key) ?? [];
}
