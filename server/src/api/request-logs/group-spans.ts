import { z } from "zod";
import { describeFields } from "../../filter/describe.ts";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery, sortQuery } from "../../http/query.ts";
import { isoTime } from "../../lib/time.ts";
import { httpLimits } from "../../http/limits.ts";
import {
  spanGroupSortFields,
  type GroupSpansQuery,
  type ScoreFigures,
  type SpanGroup,
  type SpanStore,
} from "../../storage/spans/span-store.ts";
import { coverageOf, coverageSchema } from "../coverage.ts";
import { filtersBody, selectionQuery } from "../read-filters.ts";
import { percentileMembers } from "./percentile-members.ts";
import { readSelection, type SpanReadDeps } from "./read-selection.ts";
import { spanGroupBy } from "./span-groupings.ts";

// Numbers as in the summary, which clients require.
const average = (unit = "") =>
  z.number().meta({ description: `${unit} Of the spans with a value; 0 without any.`.trim() });

const group = z
  .looseObject({
    date_group: z.null().meta({ description: "Always null: there are no groups by time." }),
    number_of_requests: z.int(),
    span_count: z.int().meta({ description: "The same as number_of_requests." }),
    total_cost: z.number().meta({ description: "USD; only spans with a known cost." }),
    total_tokens: z.number(),
    total_prompt_tokens: z.number(),
    total_completion_tokens: z.number(),
    error_count: z.int(),
    error_percentage: z.number(),
    average_cost: average("USD."),
    average_tokens: z.int().meta({ description: "Rounded. Of the spans with a value; 0 without any." }),
    average_latency: average("Seconds."),
    average_ttft: average("Seconds."),
    average_tps: average("Output tokens per second."),
    cache_hit_percentage: z.number(),
    unpriced_count: z.int().meta({ description: "Model calls without a known cost." }),
    ...percentileMembers,
    first_timestamp: z.string().meta({ format: "date-time" }),
    last_timestamp: z.string().meta({ format: "date-time" }),
    scores: z.record(z.string(), z.unknown()).meta({ description: "Averages by evaluator id, as in the summary." }),
  })
  .meta({ id: "SpanGroup", description: "The group's value has the name of its field, beside the aggregates." });

const defaultSort = "number_of_requests";

export const groupSpans = (deps: SpanReadDeps & { spans: SpanStore }) =>
  endpoint({
    id: "group_spans",
    method: "POST",
    path: "/api/request-logs/groups/",
    aliases: [
      { method: "GET", path: "/api/request-logs/groups/" },
      { method: "GET", path: "/request-logs/groups/" },
      "/request-logs/groups/",
    ],
    summary: "Group spans",
    description: `One aggregate row per group. group_by: ${spanGroupBy.description}`,
    tags: ["Spans"],
    auth: "key",
    permission: "analytics:read",
    waitsInQueue: true,
    query: z.object({
      group_by: z
        .string()
        .transform((text, context) => {
          const read = spanGroupBy.read(text);
          if ("names" in read) return read.names;
          context.addIssue({ code: "custom", message: read.message });
          return z.NEVER;
        })
        .meta({ description: spanGroupBy.description, examples: spanGroupBy.examples }),
      search: z
        .string()
        .max(httpLimits.nameChars)
        .optional()
        .meta({ description: "Groups with a value that contains this text, case-insensitive." }),
      ...pagingQuery(),
      ...sortQuery(defaultSort),
      ...selectionQuery(),
      fetch_filters: z.stringbool().optional().meta({ description: "Fills filters_data." }),
    }),
    body: { kind: "json", schema: filtersBody, example: { filters: { log_type: { operator: "", value: ["chat"] } } } },
    success: {
      status: 200,
      schema: pageOf(group).extend({
        filters_data: z.record(z.string(), z.unknown()),
        current_filters: z.unknown(),
        ...coverageSchema,
      }),
    },
    errors: ["invalid_request", "forbidden", "query_too_large", "unavailable"],
    async handler({ principal, query, body, rawQuery, url, signal }) {
      const selection = readSelection(deps, { organizationId: principal.organization_id, query, body, rawQuery });
      const { page, page_size: pageSize, group_by: groupBy } = query;
      const { count, rows } = await deps.spans.groupSpans(
        { ...selection, page, pageSize, groupBy, search: query.search, sort: readSort(query.sort_by) },
        signal,
      );
      const keys = rows.map(({ text }) => text);
      const scores = await deps.spans.groupScores({ ...selection, groupBy, keys }, signal);
      const results = rows.map((row) => ({ ...presentGroup(row), scores: scoresOf(row, scores) }));
      return {
        ...paginate({ url, page, pageSize, count, results }),
        ...coverageOf(selection),
        ...(selection.warnings.length > 0 && { warnings: selection.warnings }),
        // Tens of kilobytes, for clients that build a menu from it.
        filters_data: query.fetch_filters === true ? describeFields(deps.catalogue) : {},
        current_filters: body.filters ?? {},
      };
    },
  });

/** An unknown field falls back to the default, as the interface specifies. */
function readSort(sortBy: string): GroupSpansQuery["sort"] {
  const descending = sortBy.startsWith("-");
  const name = descending ? sortBy.slice(1) : sortBy;
  const field = spanGroupSortFields.find((known) => known === name);
  return field === undefined ? { field: defaultSort, descending: false } : { field, descending };
}

function scoresOf(row: SpanGroup, scores: Awaited<ReturnType<SpanStore["groupScores"]>>): Record<string, ScoreFigures> {
  const own = scores.filter(({ text }) => text === row.text);
  return Object.fromEntries(own.map(({ figures }) => [figures.evaluator_id, figures]));
}

function presentGroup({ key, text: _text, first_timestamp, last_timestamp, ...aggregates }: SpanGroup) {
  return {
    ...key,
    date_group: null,
    ...aggregates,
    average_tokens: Math.round(aggregates.average_tokens),
    first_timestamp: isoTime(first_timestamp),
    last_timestamp: isoTime(last_timestamp),
  };
}
