import { z } from "zod";
import type { Environment } from "../../domain/principal.ts";
import type { SpanRow } from "../../domain/span.ts";
import type { Filter } from "../../filter/ast.ts";
import type { Catalogue } from "../../filter/catalogue.ts";
import { parseConditions } from "../../filter/parse.ts";
import { parseQuickFilters } from "../../filter/quick-filters.ts";
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

export function logTypeQuery() {
  const description = "One log type, or several separated by commas. Absent: all.";
  return { log_type: z.string().optional().meta({ description }) };
}

type SelectionQuery = {
  start_time: bigint | undefined;
  end_time: bigint | undefined;
  environment: Environment | "all" | undefined;
};

/** The spans that a request is about: its organisation's, within the window, that the filters of body and URL let through. */
export function readSelection(
  { catalogue, now }: SpanReadDeps,
  request: {
    organizationId: string;
    query: SelectionQuery & { log_type?: string | undefined };
    body: z.output<typeof filtersBody>;
    rawQuery: URLSearchParams;
    /** Parameters of the URL that are no filters here, beside those that no list has as filters. */
    parameters?: readonly string[];
  },
): SpanSelection & { warnings: string[] } {
  const { startNs, endNs } = timeWindow(request.query, now());
  const { environment } = request.query;
  const { filter: quick, assumed } = parseQuickFilters(request.rawQuery, catalogue, request.parameters);
  const filter = readFilters(request.body, catalogue, [quick, logTypeFilter(request.query.log_type, catalogue)]);
  return {
    scope: {
      organization_id: request.organizationId,
      ...(environment !== undefined && environment !== "all" && { environment }),
    },
    window: { fromNs: startNs, toNs: endNs },
    filter: isEverything(filter) ? undefined : toClickHouse(filter, catalogue),
    warnings: assumed.map((name) => `${name} is no field of spans: it was taken as metadata__${name}`),
  };
}

function logTypeFilter(logType: string | undefined, catalogue: Catalogue<SpanRow>): Filter {
  if (logType === undefined || logType === "") return { type: "all", filters: [] };
  return parseConditions([["log_type", { operator: "in", value: logType.split(",") }]], catalogue).filter;
}

function isEverything(filter: Filter): boolean {
  return filter.type === "all" && filter.filters.every(isEverything);
}
