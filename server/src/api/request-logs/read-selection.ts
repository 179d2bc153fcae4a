import type { SpanRow } from "../../domain/span.ts";
import type { Filter } from "../../filter/ast.ts";
import type { Catalogue } from "../../filter/catalogue.ts";
import { toClickHouse } from "../../filter/to-clickhouse.ts";
import { requestedEnvironment, timeWindow } from "../../http/query.ts";
import type { SpanSelection } from "../../storage/spans/span-store.ts";
import { readFilters, type FilteredRequest } from "../read-filters.ts";

/** The dependencies of every read of many spans. */
export type SpanReadDeps = {
  catalogue: Catalogue<SpanRow>;
  /** Milliseconds since the epoch. */
  now: () => number;
};

type SelectionQuery = Parameters<typeof timeWindow>[0] &
  Parameters<typeof requestedEnvironment>[0] &
  FilteredRequest["query"];

/**
 * The spans that a request selects: those of its organisation, within the window, that match the filters of body and
 * URL.
 */
export function readSelection(
  { catalogue, now }: SpanReadDeps,
  request: FilteredRequest & { organizationId: string; query: SelectionQuery },
): SpanSelection & { warnings: string[] } {
  const { startNs, endNs } = timeWindow(request.query, now());
  const environment = requestedEnvironment(request.query);
  const { filter, warnings } = readFilters(request, catalogue);
  return {
    scope: {
      organization_id: request.organizationId,
      ...(environment !== undefined && environment !== "all" && { environment }),
    },
    window: { fromNs: startNs, toNs: endNs },
    filter: isEverything(filter) ? undefined : toClickHouse(filter, catalogue),
    warnings,
  };
}

function isEverything(filter: Filter): boolean {
  return filter.type === "all" && filter.filters.every(isEverything);
}
