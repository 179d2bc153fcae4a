import { bodyOf } from "../../api/client.ts";
import { useApiQuery, useEnvironment } from "../../api/use-api.ts";
import type { Window } from "../../charts/use-window.ts";
import type { KnownValues, Place } from "../../query-bar/complete.ts";

/** Suggestions from the spans of the window for the place of the cursor in a query bar. */
export function useKnownValues({ start, end }: Pick<Window, "start" | "end">, place: Place | undefined): KnownValues {
  const environment = useEnvironment();
  const field = place?.wants === "value" && place.field.hasFacet === true ? place.field.name : undefined;
  const query = {
    start_time: start,
    end_time: end,
    environment,
    fields: field ?? "status",
    limit: 20,
    ...(field !== undefined && place?.typed && { search: place.typed }),
  };
  const facets = useApiQuery(
    ["known values", query],
    (api, signal) =>
      bodyOf(api.POST("/api/request-logs/facets/", { params: { query }, body: { filters: {} }, signal })),
    { enabled: place !== undefined, staleTime: 60_000 },
  );
  const values = field === undefined ? undefined : facets.data?.facets[field];
  return {
    values: values?.map(({ value, count }) => ({ value: String(value), count })),
    metadataKeys: facets.data?.metadata_keys,
  };
}
