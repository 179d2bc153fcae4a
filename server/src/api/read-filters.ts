import { z } from "zod";
import { ServiceError } from "../domain/errors.ts";
import { everything, joinFilters, type Filter } from "../filter/ast.ts";
import { boundWork } from "../filter/bound-work.ts";
import type { Catalogue } from "../filter/catalogue.ts";
import { parseConditions, parseFilters } from "../filter/parse.ts";
import { parseQuickFilters, urlParameters } from "../filter/quick-filters.ts";
import { readEnvironmentQuery, timeWindowQuery } from "../http/query.ts";

/** The other query parameters of every read with filters. */
export function selectionQuery() {
  const description = "One log type, or several separated by commas. Absent: all.";
  return {
    ...timeWindowQuery(),
    ...readEnvironmentQuery(),
    log_type: z.string().optional().meta({ description }),
    filters: z.string().optional().meta({
      description: "The `filters` of the body as JSON, for links. Filters of body and URL are combined with AND.",
    }),
  };
}

/** A body that may contain `filters`. Its other members are ignored, but refused if they are parameters of the URL. */
export const filtersBody = z
  .looseObject({
    filters: z
      .unknown()
      .optional()
      .meta({ type: "object", description: "See the filter language: {field: {operator, value}}." }),
  })
  .superRefine((body, context) => {
    for (const name of Object.keys(body).filter((member) => urlParameters.has(member))) {
      context.addIssue({ code: "custom", path: [name], message: `${name} belongs into the URL: ?${name}=…` });
    }
  })
  .meta({ id: "Filters" });

type FiltersBody = z.output<typeof filtersBody>;

export type FilteredRequest = {
  body: FiltersBody;
  /** As parsed by the route's schema: its members are parameters, not filters. */
  query: { log_type?: string | undefined; filters?: string | undefined };
  rawQuery: URLSearchParams;
};

/**
 * The filters of body and URL, strictly parsed. `warnings` name query parameters that were read as metadata or have no
 * effect here.
 *
 * @throws ServiceError `invalid_request`
 */
export function readFilters<Row>(
  { body, query, rawQuery }: FilteredRequest,
  catalogue: Catalogue<Row>,
): { filter: Filter; warnings: string[] } {
  refuseMisplaced(body, catalogue);
  const quick = parseQuickFilters(rawQuery, catalogue, Object.keys(query));
  const { filter: own } = parseFilters(withoutEmptyList(body.filters), catalogue);
  const { filter: linked } = parseFilters(linkedFilters(query.filters), catalogue);
  const filter = joinFilters("all", [own, quick.filter, linked, logTypeFilter(query.log_type, catalogue)]);
  boundWork(filter, catalogue);
  const warnings = [
    ...quick.assumed.map((name) => `${name} is no field of spans: it was taken as metadata__${name}`),
    ...quick.ignored.map((name) => `${name} has no effect on this route`),
  ];
  return { filter, warnings };
}

function linkedFilters(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const message = "filters in the URL must be JSON: {field: {operator, value}}";
    throw new ServiceError("invalid_request", message, { errors: { filters: [message] } });
  }
}

function logTypeFilter<Row>(logType: string | undefined, catalogue: Catalogue<Row>): Filter {
  if (logType === undefined) return everything;
  return parseConditions([["log_type", { operator: "in", value: logType.split(",") }]], catalogue).filter;
}

/** A condition beside `filters` instead of in it would be ignored, and the response would cover everything. */
function refuseMisplaced<Row>(body: FiltersBody, catalogue: Catalogue<Row>): void {
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
