import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { wholeNumber } from "../../http/query.ts";
import { apiLimits } from "../limits.ts";
import { httpLimits } from "../../http/limits.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { coverageOf, coverageSchema } from "../coverage.ts";
import { filtersBody, selectionQuery } from "../read-filters.ts";
import { facetNames, readFacets } from "./span-groupings.ts";
import { readSelection, type SpanReadDeps } from "./read-selection.ts";

const defaultFields = ["model", "status", "log_type", "customer_identifier", "span_name", "provider_id", "environment"];

const counted = z.int().meta({ description: "Spans." });
const facets = z
  .object({
    facets: z
      .record(z.string(), z.array(z.object({ value: z.union([z.string(), z.number()]).nullable(), count: counted })))
      .meta({ description: "The most frequent values by field. Spans without a value are not counted." }),
    metadata_keys: z
      .array(z.object({ key: z.string(), count: counted }))
      .meta({ description: "For filters and groups as metadata__<key>; nested keys are joined by `__`." }),
    ...coverageSchema,
  })
  .meta({ id: "SpanFacets" });

const facetQuery = {
  fields: z
    .string()
    .optional()
    .transform((text, context) => {
      const read = text === undefined ? { names: defaultFields } : readFacets(text);
      if ("names" in read) return read.names;
      context.addIssue({ code: "custom", message: read.message });
      return z.NEVER;
    })
    .meta({ default: defaultFields.join(","), description: `Separated by commas: ${facetNames}.` }),
  limit: wholeNumber("limit", { min: 1, max: apiLimits.facetValuesMax, default: 10 }),
  search: z
    .string()
    .max(httpLimits.nameChars)
    .default("")
    .meta({ description: "Values that contain this text, case-insensitive. Requires exactly one field in `fields`." }),
};

export const facetSpans = (deps: SpanReadDeps & { spans: SpanStore }) =>
  endpoint({
    id: "span_facets",
    method: "POST",
    path: "/api/request-logs/facets/",
    aliases: [
      { method: "GET", path: "/api/request-logs/facets/" },
      { method: "GET", path: "/request-logs/facets/" },
      "/request-logs/facets/",
    ],
    summary: "List the values of fields",
    description:
      "The values of fields of spans, with their frequency. Filters are in the body and the URL, as in the list of spans.",
    tags: ["Spans"],
    auth: "key",
    permission: "analytics:read",
    waitsInQueue: true,
    query: z.object({ ...facetQuery, ...selectionQuery() }),
    body: { kind: "json", schema: filtersBody, example: { filters: { status: { operator: "", value: ["failed"] } } } },
    success: { status: 200, schema: facets },
    errors: ["invalid_request", "forbidden", "query_too_large", "unavailable"],
    async handler({ principal, query, body, rawQuery, signal }) {
      const { fields, limit, search } = query;
      if (search !== "" && fields.length !== 1) {
        const message = "search looks within the values of one field: name it in fields";
        throw new ServiceError("invalid_request", message, { errors: { search: [message] } });
      }
      const selection = readSelection(deps, { organizationId: principal.organization_id, query, body, rawQuery });
      const { values, metadataKeys } = await deps.spans.facetSpans({ ...selection, fields, limit, search }, signal);
      const byField = Map.groupBy(values, ({ field }) => field);
      return {
        facets: Object.fromEntries(
          fields.map((field) => [field, (byField.get(field) ?? []).map(({ value, count }) => ({ value, count }))]),
        ),
        metadata_keys: metadataKeys,
        ...coverageOf(selection),
        ...(selection.warnings.length > 0 && { warnings: selection.warnings }),
      };
    },
  });
