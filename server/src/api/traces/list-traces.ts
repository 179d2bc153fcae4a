import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { traceSortFields } from "../../domain/trace.ts";
import { describeFields } from "../../filter/describe.ts";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { requestedEnvironment, pagingQuery, sortQuery } from "../../http/query.ts";
import { rawJson } from "../../http/reply.ts";
import { JsonObjectWriter } from "../../lib/json-writer.ts";
import type { OrganizationStore } from "../../storage/control/organization-store.ts";
import type { SpanStore, StoredSpan } from "../../storage/spans/span-store.ts";
import type { ListTracesQuery, StoredTrace } from "../../storage/spans/trace-queries.ts";
import { coverageOf, coverageSchema } from "../coverage.ts";
import { filtersBody, readFilters, selectionQuery } from "../read-filters.ts";
import { rootFields, writeTrace } from "./present-trace.ts";
import { findTraceOwner, type TraceOwner } from "./trace-owner.ts";
import { selectTraces, traceSchema, type TraceReadDeps } from "./read-traces.ts";

type ListTracesDeps = TraceReadDeps & { spans: SpanStore; organizations: Pick<OrganizationStore, "find"> };

export const listTraces = (deps: ListTracesDeps) =>
  endpoint({
    id: "list_traces",
    method: "POST",
    path: "/api/traces/list/",
    aliases: [{ method: "GET", path: "/api/traces/list/" }],
    summary: "List traces",
    description:
      "A trace is listed when one of its spans ended within the window, by default the last hour, " +
      "and is then counted as a whole. Filters on figures compare those of the trace; filters on fields of spans match " +
      "if any span of the trace matches, and their negation if none does. " +
      `sort_by is one of ${traceSortFields.join(", ")}.`,
    tags: ["Traces"],
    auth: "key",
    permission: "spans:read",
    waitsInQueue: true,
    limit: "api",
    query: z.object({
      ...pagingQuery(),
      ...sortQuery("-timestamp"),
      ...selectionQuery(),
      fetch_filters: z.stringbool().optional().meta({ description: "Adds filters_data and current_filters." }),
    }),
    body: {
      kind: "json",
      schema: filtersBody,
      example: { filters: { total_cost: { operator: "gte", value: [0.01] } } },
    },
    success: { status: 200, schema: pageOf(traceSchema).extend(coverageSchema) },
    errors: ["invalid_request", "query_too_large", "unavailable"],
    async handler({ principal, query, body, rawQuery, url, signal }) {
      const organizationId = principal.organization_id;
      const { filter, warnings } = readFilters({ body, query, rawQuery }, deps.traceCatalogue);
      const environment = requestedEnvironment(query);
      const selection = selectTraces(deps, { organizationId, query: { ...query, environment }, filter });
      const { page, page_size: pageSize } = query;
      const found = await deps.spans.listTraces(
        { ...selection, page, pageSize, sort: readSort(query.sort_by) },
        signal,
      );
      const scope = { organization_id: organizationId };
      const roots = await deps.spans.hydrateSpans(
        scope,
        found.rows.map((trace) => trace.root),
        rootFields,
        signal,
      );
      const results = presentTraces(found.rows, roots, await findTraceOwner(deps.organizations, organizationId));
      const { results: rows, ...envelope } = paginate({ url, page, pageSize, count: found.count, results });
      const writer = new JsonObjectWriter();
      for (const [name, value] of Object.entries(envelope)) writer.value(name, value);
      for (const [name, value] of Object.entries(coverageOf(selection))) writer.value(name, value);
      if (warnings.length > 0) writer.value("warnings", warnings);
      writer.raw("results", `[${rows.join(",")}]`);
      if (query.fetch_filters === true) {
        writer.value("filters_data", describeFields(deps.traceCatalogue)).value("current_filters", body.filters ?? {});
      }
      return rawJson(writer.toString());
    },
  });

function presentTraces(
  traces: readonly StoredTrace[],
  roots: readonly StoredSpan[],
  organization: TraceOwner,
): string[] {
  const byId = new Map(roots.map((root) => [`${root.environment} ${root.unique_id}`, root]));
  return traces.map((trace) => {
    const root = byId.get(`${trace.environment} ${trace.root.unique_id}`);
    return writeTrace(trace, root, organization).toString();
  });
}

function readSort(sortBy: string): ListTracesQuery["sort"] {
  const descending = sortBy.startsWith("-");
  const name = descending ? sortBy.slice(1) : sortBy;
  const field = traceSortFields.find((known) => known === name);
  if (field !== undefined) return { field, descending };
  const message = `sort_by must be one of ${traceSortFields.join(", ")}, with or without a leading -`;
  throw new ServiceError("invalid_request", message, { errors: { sort_by: [message] } });
}
