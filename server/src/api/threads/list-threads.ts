import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { threadSortFields } from "../../domain/thread.ts";
import { describeFields } from "../../filter/describe.ts";
import { toGroupFilter, type GroupCatalogue } from "../../filter/group-fields.ts";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { requestedEnvironment, pagingQuery, sortQuery, timeWindow } from "../../http/query.ts";
import { isoTime } from "../../lib/time.ts";
import { apiLimits } from "../limits.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import type { ListThreadsQuery, StoredThread } from "../../storage/spans/thread-queries.ts";
import { coverageOf, coverageSchema } from "../coverage.ts";
import { filtersBody, readFilters, selectionQuery } from "../read-filters.ts";

const thread = z
  .object({
    id: z.string(),
    thread_identifier: z.string(),
    environment: z.string(),
    log_count: z.int().meta({ description: "Spans that name the thread." }),
    trace_count: z.int(),
    total_cost: z.number().nullable().meta({
      description: "USD; usage that wrappers restate counts once, as in traces. Null if no counted call has a price.",
    }),
    total_tokens: z.number(),
    unpriced_count: z.int().meta({ description: "Calls without a price, which sums do not include." }),
    customer_identifier: z.string().nullable(),
    first_timestamp: z.string().meta({ format: "date-time" }),
    last_timestamp: z.string().meta({ format: "date-time" }),
  })
  .meta({ id: "Thread" });

const described = { filters_data: z.record(z.string(), z.unknown()), current_filters: z.unknown() };

type ThreadDeps = { spans: SpanStore; threadCatalogue: GroupCatalogue; now: () => number };

export const listThreads = (deps: ThreadDeps) =>
  endpoint({
    id: "list_threads",
    method: "POST",
    path: "/api/log_threads/",
    aliases: [{ method: "GET", path: "/api/log_threads/" }],
    summary: "List threads",
    description:
      "Threads with a span in the window, by default the last hour, newest first. The environment " +
      `is always that of the key. sort_by is timestamp or one of ${threadSortFields.join(", ")}.`,
    tags: ["Threads"],
    auth: "key",
    permission: "spans:read",
    waitsInQueue: true,
    query: z.object({
      ...pagingQuery(apiLimits.threadPageSizeDefault),
      ...sortQuery("-timestamp"),
      ...selectionQuery(),
      fetch_filters: z.stringbool().optional().meta({ description: "Fills filters_data." }),
    }),
    body: {
      kind: "json",
      schema: filtersBody,
      example: { filters: { customer_identifier: { operator: "", value: ["acme"] } } },
    },
    success: { status: 200, schema: pageOf(thread).extend({ ...described, ...coverageSchema }) },
    errors: ["invalid_request", "query_too_large", "unavailable"],
    async handler({ principal, query, body, rawQuery, url, signal }) {
      const { startNs, endNs } = timeWindow(query, deps.now());
      const catalogue = deps.threadCatalogue;
      const { filter, warnings } = readFilters({ body, query, rawQuery }, catalogue);
      const environment = requestedEnvironment(query);
      if (environment !== undefined && environment !== principal.environment) {
        warnings.push(`environment has no effect on this route: the threads are those of ${principal.environment}`);
      }
      const { page, page_size: pageSize } = query;
      const covered = {
        scope: { organization_id: principal.organization_id, environment: principal.environment },
        window: { fromNs: startNs, toNs: endNs },
      };
      const { count, rows } = await deps.spans.listThreads(
        {
          ...covered,
          condition: toGroupFilter(filter, catalogue),
          page,
          pageSize,
          sort: readSort(query.sort_by),
        },
        signal,
      );
      return {
        ...paginate({ url, page, pageSize, count, results: rows.map(presentThread) }),
        ...coverageOf(covered),
        ...(warnings.length > 0 && { warnings }),
        filters_data: query.fetch_filters === true ? describeFields(catalogue) : {},
        current_filters: body.filters ?? {},
      };
    },
  });

function presentThread({ customer_identifier, ...row }: StoredThread): z.input<typeof thread> {
  return {
    id: row.thread_identifier,
    ...row,
    total_cost: row.total_cost === 0 && row.unpriced_count > 0 ? null : row.total_cost,
    customer_identifier: customer_identifier === "" ? null : customer_identifier,
    first_timestamp: isoTime(row.first_timestamp),
    last_timestamp: isoTime(row.last_timestamp),
  };
}

function readSort(sortBy: string): ListThreadsQuery["sort"] {
  const descending = sortBy.startsWith("-");
  const name = descending ? sortBy.slice(1) : sortBy;
  const field = name === "timestamp" ? "last_timestamp" : threadSortFields.find((known) => known === name);
  if (field !== undefined) return { field, descending };
  const message = `sort_by must be timestamp or one of ${threadSortFields.join(", ")}, with or without a leading -`;
  throw new ServiceError("invalid_request", message, { errors: { sort_by: [message] } });
}
