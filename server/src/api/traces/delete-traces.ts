import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { boundWork } from "../../filter/bound-work.ts";
import { parseFilters, type ParsedFilter } from "../../filter/parse.ts";
import type { GroupCatalogue } from "../../filter/group-fields.ts";
import { writtenEnvironment } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { environmentQuery, timeWindowQuery } from "../../http/query.ts";
import type { TraceDeletions } from "../../jobs/trace-deletions.ts";
import { isObject } from "../../lib/json.ts";
import { apiLimits } from "../limits.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { coverageOf, coverageSchema } from "../coverage.ts";
import { filtersBody } from "../read-filters.ts";
import { selectTraces, type TraceReadDeps } from "./read-traces.ts";
import { asEnvironment } from "./trace-scope.ts";

const result = z
  .object({
    success_count: z.int().meta({ description: "Traces submitted for deletion; also deleted_count." }),
    deleted_count: z.int(),
    error_count: z.int(),
    errors: z.array(z.unknown()),
    ignored: z
      .array(z.object({ field: z.string(), reason: z.string() }))
      .meta({ description: "Conditions that were not understood and were ignored." }),
    message: z.string(),
    ...coverageSchema,
  })
  .omit({ warnings: true })
  .meta({ id: "BulkDeleteResult" });

type BulkDeleteDeps = TraceReadDeps & { spans: SpanStore; traceDeletions: TraceDeletions };

export const deleteTraces = (deps: BulkDeleteDeps) =>
  endpoint({
    id: "delete_traces",
    method: "POST",
    path: "/api/traces/bulk/",
    aliases: ["/api/traces/bulk-delete/"],
    summary: "Delete the traces that a filter matches",
    description:
      `At most ${apiLimits.bulkDeleteTraces} traces; more are 422 and nothing is deleted. Deletes their spans that ended within the ` +
      "window, by default the last hour. A key deletes in its own environment, a person in both unless " +
      "the query names one. Unknown fields and operators are ignored and named in `ignored`, but at least one condition must be understood. " +
      "10 requests a minute for each organization and path; for each person with an access token.",
    tags: ["Traces"],
    auth: "key_or_user",
    permission: "traces:delete",
    environment: "own",
    limit: "bulk_delete",
    query: z.object({ ...timeWindowQuery(), ...environmentQuery() }),
    body: {
      kind: "json",
      schema: filtersBody,
      example: { filters: { trace_unique_id: { operator: "in", value: ["4bf92f3577b34da6a3ce929d0e0e4736"] } } },
    },
    success: { status: 200, schema: result },
    errors: ["invalid_request", "forbidden", "query_too_large", "too_many_rows", "unavailable"],
    async handler({ principal, query, body, signal }) {
      const organizationId = principal.organization_id;
      const environment = writtenEnvironment(principal, query.environment);
      const { filter, ignored } = readDeleteFilter(body.filters, organizationId, deps.traceCatalogue);
      await deps.traceDeletions.settle();
      const selection = selectTraces(deps, { organizationId, query: { ...query, environment }, filter });
      const { count, keys } = await deps.spans.matchTraces({ ...selection, limit: apiLimits.bulkDeleteTraces }, signal);
      if (count > apiLimits.bulkDeleteTraces) throw tooMany(count);
      const { fromNs, toNs } = selection.window;
      const deletedAtMs = deps.now();
      if (keys.length > 0) {
        await deps.traceDeletions.delete(
          keys.map(({ trace_unique_id, environment }) => ({
            organization_id: organizationId,
            environment: asEnvironment(environment),
            trace_unique_id,
            fromNs,
            toNs,
            deletedAtMs,
          })),
        );
      }
      return {
        success_count: keys.length,
        deleted_count: keys.length,
        error_count: 0,
        errors: [],
        ignored: [...ignored],
        message: describeDeleted(keys.length),
        ...coverageOf(selection),
      };
    },
  });

/** Traces of another organization cannot be selected; the own organization does not count as a condition. */
function readDeleteFilter(
  filters: unknown,
  organizationId: string,
  catalogue: GroupCatalogue,
): Pick<ParsedFilter, "filter" | "ignored"> {
  const isEmpty = Array.isArray(filters)
    ? filters.length === 0
    : isObject(filters) && Object.keys(filters).length === 0;
  if (filters === undefined || filters === null || isEmpty) throw refused("filters must name at least one field");
  const named = isObject(filters) ? filters["unique_organization_id"] : undefined;
  if (named !== undefined && !valuesOf(named).every((value) => value === organizationId)) {
    throw new ServiceError("forbidden", "This credential may not delete traces of another organization.");
  }
  const own = isObject(filters)
    ? Object.fromEntries(Object.entries(filters).filter(([name]) => name !== "unique_organization_id"))
    : filters;
  const parsed = parseFilters(own, catalogue, "lenient");
  boundWork(parsed.filter, catalogue);
  if (parsed.conditions > 0) return parsed;
  const reasons = parsed.ignored.map(({ reason }) => reason).join("; ");
  throw refused(`filters must have at least one condition that is understood${reasons === "" ? "" : `: ${reasons}`}`);
}

function describeDeleted(count: number): string {
  if (count === 0) return "No trace matches; nothing was deleted.";
  return count === 1 ? "1 trace was deleted." : `${count} traces were deleted.`;
}

function valuesOf(condition: unknown): unknown[] {
  const value = isObject(condition) ? condition["value"] : condition;
  return Array.isArray(value) ? (value as unknown[]) : [value];
}

function refused(message: string): ServiceError {
  return new ServiceError("invalid_request", `${message}.`, { errors: { filters: [message] } });
}

function tooMany(count: number): ServiceError {
  const message = `the filters match ${count} traces; at most ${apiLimits.bulkDeleteTraces} can be deleted in one request`;
  return new ServiceError("too_many_rows", `${message}. Nothing was deleted.`, { errors: { filters: [message] } });
}
