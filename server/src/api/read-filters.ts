import { z } from "zod";
import { ServiceError } from "../domain/errors.ts";
import { joinFilters, type Filter } from "../filter/ast.ts";
import type { Catalogue } from "../filter/catalogue.ts";
import { parseFilters } from "../filter/parse.ts";

/** A body that may hold `filters`; its other members are not read. */
export const filtersBody = z
  .looseObject({
    filters: z.unknown().optional().meta({ description: "See the filter language: {field: {operator, value}}." }),
  })
  .meta({ id: "Filters" });

type FiltersBody = z.output<typeof filtersBody>;

/** The filters of a body, strictly read, and with them `more`, which come from the URL. @throws ServiceError `invalid_request` */
export function readFilters<Row>(body: FiltersBody, catalogue: Catalogue<Row>, more: readonly Filter[] = []): Filter {
  refuseMisplaced(body, catalogue);
  return joinFilters("all", [parseFilters(withoutEmptyList(body.filters), catalogue).filter, ...more]);
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
