import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import type { Environment } from "../../domain/principal.ts";
import type { SpanRow } from "../../domain/span.ts";
import { joinFilters, type Filter } from "../../filter/ast.ts";
import type { Catalogue } from "../../filter/catalogue.ts";
import { parseFilters } from "../../filter/parse.ts";
import { toClickHouse } from "../../filter/to-clickhouse.ts";
import { timeWindow } from "../../http/query.ts";
import type { SpanSelection } from "../../storage/spans/span-store.ts";

/** What every read of many spans needs. */
export type SpanReadDeps = {
  catalogue: Catalogue<SpanRow>;
  /** Milliseconds since the epoch. */
  now: () => number;
};

/** A body that may hold `filters`; its other members are not read. */
export const filtersBody = z
  .looseObject({
    filters: z.unknown().optional().meta({ description: "See the filter language: {field: {operator, value}}." }),
  })
  .meta({ id: "Filters" });

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
  refuseMisplacedFilters(request.body, catalogue);
  const own = parseFilters(withoutEmptyList(request.body.filters), catalogue).filter;
  const filter = joinFilters("all", [own, ...(request.more ?? [])]);
  return {
    scope: {
      organization_id: request.organizationId,
      ...(environment !== undefined && environment !== "all" && { environment }),
    },
    window: { fromNs: startNs, toNs: endNs },
    filter: isEverything(filter) ? undefined : toClickHouse(filter, catalogue),
  };
}

/** A filter beside `filters` instead of in it would be passed over, and the answer be about everything. */
function refuseMisplacedFilters(body: z.output<typeof filtersBody>, catalogue: SpanReadDeps["catalogue"]): void {
  if (body.filters !== undefined) return;
  const misplaced = Object.keys(body).find((name) => name === "filter" || catalogue.find(name) !== undefined);
  if (misplaced === undefined) return;
  const message = `conditions belong into filters: {"filters": {"<field>": …}}; found ${misplaced} beside it`;
  throw new ServiceError("invalid_request", message, { errors: { [misplaced]: [message] } });
}

// Some clients send `filters: []` for none.
function withoutEmptyList(filters: unknown): unknown {
  return Array.isArray(filters) && filters.length === 0 ? undefined : filters;
}

function isEverything(filter: Filter): boolean {
  return filter.type === "all" && filter.filters.every(isEverything);
}
