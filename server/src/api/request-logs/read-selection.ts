import type { z } from "zod";
import type { Environment } from "../../domain/principal.ts";
import type { SpanRow } from "../../domain/span.ts";
import type { Filter } from "../../filter/ast.ts";
import type { Catalogue } from "../../filter/catalogue.ts";
import { toClickHouse } from "../../filter/to-clickhouse.ts";
import { timeWindow } from "../../http/query.ts";
import type { SpanSelection } from "../../storage/spans/span-store.ts";
import { readFilters, type filtersBody } from "../read-filters.ts";

/** What every read of many spans needs. */
export type SpanReadDeps = {
  catalogue: Catalogue<SpanRow>;
  /** Milliseconds since the epoch. */
  now: () => number;
};

type SelectionQuery = {
  start_time: bigint | undefined;
  end_time: bigint | undefined;
  environment: Environment | "all" | undefined;
};

/** The spans that a request is about: its organisation's, within the window, that the filters let through. */
export function readSelection(
  { catalogue, now }: SpanReadDeps,
  request: {
    organizationId: string;
    query: SelectionQuery;
    body: z.output<typeof filtersBody>;
    more?: readonly Filter[];
  },
): SpanSelection {
  const { startNs, endNs } = timeWindow(request.query, now());
  const { environment } = request.query;
  const filter = readFilters(request.body, catalogue, request.more);
  return {
    scope: {
      organization_id: request.organizationId,
      ...(environment !== undefined && environment !== "all" && { environment }),
    },
    window: { fromNs: startNs, toNs: endNs },
    filter: isEverything(filter) ? undefined : toClickHouse(filter, catalogue),
  };
}

function isEverything(filter: Filter): boolean {
  return filter.type === "all" && filter.filters.every(isEverything);
}
