import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { describeFields } from "../../filter/describe.ts";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, pageTokenParameter, paginate } from "../../http/pagination.ts";
import { includeFieldsQuery, pagingQuery, sortQuery } from "../../http/query.ts";
import { rawJson } from "../../http/reply.ts";
import { apiLimits } from "../limits.ts";
import { JsonObjectWriter } from "../../lib/json-writer.ts";
import type { ScoreStore } from "../../storage/control/score-store.ts";
import { isPlaceIn } from "../../storage/spans/queries/span-order.ts";
import { spanSortFields, type SpanSort } from "../../storage/spans/span-list.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { attachNewMessages, needsNewMessages } from "./attach-new-messages.ts";
import { attachScores } from "./attach-scores.ts";
import { columnsOf, listMembers, presentSpan } from "./present-span.ts";
import { coverageOf, coverageSchema } from "../coverage.ts";
import { filtersBody, selectionQuery } from "../read-filters.ts";
import { readPageToken, writePageToken } from "./page-token.ts";
import { readSelection, type SpanReadDeps } from "./read-selection.ts";
import { spanSchema } from "./span-schema.ts";

const listQuery = z.object({
  ...pagingQuery(),
  [pageTokenParameter]: z
    .string()
    .max(apiLimits.pageTokenChars)
    .optional()
    .meta({
      description:
        "Where this page begins, in the window of the first page. It is part of `next`, so that following `next` returns each span once " +
        "while spans are added and deleted.",
    }),
  ...sortQuery("-timestamp"),
  ...selectionQuery(),
  ...includeFieldsQuery(),
  fetch_filters: z.stringbool().optional().meta({ description: "Adds filters_data and current_filters." }),
});

export const listSpans = (
  deps: SpanReadDeps & { spans: SpanStore; stores: { scores: Pick<ScoreStore, "listOfLogs"> } },
) =>
  endpoint({
    id: "list_spans",
    method: "POST",
    path: "/api/request-logs/list/",
    aliases: [
      { method: "GET", path: "/api/request-logs/list/" },
      { method: "GET", path: "/request-logs/list/" },
      "/request-logs/list/",
    ],
    summary: "List spans",
    description:
      "Filters are in the body, and in the URL as `field=value` or `field[value]=…&field[operator]=…`; a URL name " +
      "that is not a field filters metadata. The default window is the last hour.",
    tags: ["Spans"],
    auth: "key",
    permission: "spans:read",
    waitsInQueue: true,
    query: listQuery,
    body: {
      kind: "json",
      schema: filtersBody,
      example: { filters: { cost: { operator: "gte", value: [0.01] }, metadata__feature: { value: ["quiz"] } } },
    },
    success: { status: 200, schema: pageOf(spanSchema).extend(coverageSchema) },
    errors: ["invalid_request", "query_too_large", "unavailable"],
    async handler({ principal, query, body, rawQuery, url, signal }) {
      const selection = readSelection(deps, { organizationId: principal.organization_id, query, body, rawQuery });
      const members = listMembers(query.include_fields);
      const { page, page_size: pageSize, sort_by: sortBy, page_after: token } = query;
      const sort = readSort(sortBy);
      const start = token ? readPageToken(token, sortBy, (place) => isPlaceIn(sort, place)) : undefined;
      const { window } = start ?? selection;
      const { count, rows, next } = await deps.spans.listSpans(
        { ...selection, window, page, pageSize, sort, fields: columnsOf(members), after: start?.place },
        signal,
      );
      const nextToken = next && writePageToken({ sortBy, window, place: next });
      const shown = members.includes("scores")
        ? await attachScores(deps.stores.scores, principal.organization_id, rows)
        : rows;
      const withNewMessages = needsNewMessages(members)
        ? await attachNewMessages(deps.spans, selection.scope, shown, signal)
        : shown;
      const { results, ...envelope } = paginate({
        url,
        page,
        pageSize,
        count,
        results: withNewMessages,
        hasNext: next !== undefined,
        nextToken,
      });
      const writer = new JsonObjectWriter();
      for (const [name, value] of Object.entries(envelope)) writer.value(name, value);
      for (const [name, value] of Object.entries(coverageOf({ scope: selection.scope, window })))
        writer.value(name, value);
      if (selection.warnings.length > 0) writer.value("warnings", selection.warnings);
      writer.raw("results", `[${results.map((span) => presentSpan(span, members)).join(",")}]`);
      if (query.fetch_filters === true) {
        writer.value("filters_data", describeFields(deps.catalogue)).value("current_filters", body.filters ?? {});
      }
      return rawJson(writer.toString());
    },
  });

function readSort(sortBy: string): SpanSort {
  const descending = sortBy.startsWith("-");
  const name = descending ? sortBy.slice(1) : sortBy;
  const evaluator = /^scores__(.+)$/s.exec(name)?.[1];
  if (evaluator !== undefined) return { field: "timestamp", descending, score: evaluator };
  const key = /^metadata__(?!_)(.+)$/s.exec(name)?.[1];
  if (key !== undefined) return { field: "timestamp", descending, metadata: key };
  const field = spanSortFields.find((known) => known === name);
  if (field !== undefined) return { field, descending };
  const message = `sort_by must be one of ${spanSortFields.join(", ")}, scores__<evaluator> or metadata__<key>, with or without a leading -`;
  throw new ServiceError("invalid_request", message, { errors: { sort_by: [message] } });
}
