import { z } from "zod";
import { ServiceError } from "../domain/errors.ts";
import { conditionsOf, joinFilters, type Filter } from "../filter/ast.ts";
import type { Catalogue } from "../filter/catalogue.ts";
import { parseFilters } from "../filter/parse.ts";
import { urlParameters } from "../filter/quick-filters.ts";

/** A body that may hold `filters`; others of its members are not read, but those that the URL has are told to be there. */
export const filtersBody = z
  .looseObject({
    filters: z.unknown().optional().meta({ description: "See the filter language: {field: {operator, value}}." }),
  })
  .superRefine((body, context) => {
    for (const name of Object.keys(body).filter((member) => urlParameters.has(member))) {
      context.addIssue({ code: "custom", path: [name], message: `${name} belongs into the URL: ?${name}=…` });
    }
  })
  .meta({ id: "Filters" });

type FiltersBody = z.output<typeof filtersBody>;

/** The filters of a body, strictly read, and with them `more`, which come from the URL. @throws ServiceError `invalid_request` */
export function readFilters<Row>(body: FiltersBody, catalogue: Catalogue<Row>, more: readonly Filter[] = []): Filter {
  refuseMisplaced(body, catalogue);
  const filter = joinFilters("all", [parseFilters(withoutEmptyList(body.filters), catalogue).filter, ...more]);
  refuseTooMany(filter, catalogue);
  return filter;
}

/** Of conditions that are much work, body and URL may have a few together. */
function refuseTooMany<Row>(filter: Filter, catalogue: Catalogue<Row>): void {
  const counts = new Map<string, number>();
  for (const { field } of conditionsOf(filter)) counts.set(field, (counts.get(field) ?? 0) + 1);
  for (const [name, count] of counts) {
    const max = catalogue.find(name)?.conditionsMax;
    if (max === undefined || count <= max) continue;
    const message = `a request may have ${max} conditions on ${name}; one condition may have several values`;
    throw new ServiceError("invalid_request", message, { errors: { [name]: [message] } });
  }
}

/** A filter beside `filters` instead of in it would be passed over, and the answer be about everything. */
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
