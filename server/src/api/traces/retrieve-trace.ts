import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { environmentQuery, includeFieldsQuery, wholeNumber } from "../../http/query.ts";
import { rawJson, type RawJson, type Reply } from "../../http/reply.ts";
import { fromByteString } from "../../lib/byte-string.ts";
import { JsonObjectWriter } from "../../lib/json-writer.ts";
import { apiLimits } from "../limits.ts";
import { domainLimits } from "../../domain/limits.ts";
import { httpLimits } from "../../http/limits.ts";
import { storageLimits } from "../../storage/limits.ts";
import type { OrganizationStore } from "../../storage/control/organization-store.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import type { TracePlace } from "../../storage/spans/trace-queries.ts";
import { mediaQuery, withMedia } from "../media/with-media.ts";
import { findTraceOwner } from "./trace-owner.ts";
import { environmentsFrom, traceScope } from "./trace-scope.ts";
import { rootFields, writeTrace } from "./present-trace.ts";
import { nodeFields, nodeWriter } from "./present-tree.ts";
import { traceSchema } from "./read-traces.ts";
import { readTraceId } from "./trace-id.ts";
import { presentWholeTrace } from "./present-whole-trace.ts";
import { readPlaced, type TraceRequest } from "./read-placed.ts";

const treeQuery = z.object({
  tree: z
    .enum(["full", "slim", "table", "flat"], { error: "tree must be one of full, slim, table, flat" })
    .default("full")
    .meta({
      description:
        "full: the tree with the input, output and metadata of every span. slim: without these, and without members that are null. " +
        "table: the members of slim, as rows under `span_table`. flat: no tree, but one page of the spans with all members, in order of their start, under `spans`.",
    }),
  page: wholeNumber("page", { min: 1, max: httpLimits.pageMax, default: 1 }),
  page_size: wholeNumber("page_size", { min: 1, max: httpLimits.pageSizeMax, default: domainLimits.pageSizeDefault }),
  include_fields: includeFieldsQuery().include_fields.meta({
    description: "With `tree=table`: the members to return, comma-separated, out of those of a slim tree.",
  }),
  ...mediaQuery(),
  environment: environmentQuery().environment.meta({
    description: "The environment to search. Absent or all: that of the key, then the other.",
  }),
});

export const retrievedTrace = traceSchema
  .extend({
    span_tree: z
      .array(z.looseObject({ unique_id: z.string(), children: z.array(z.unknown()) }))
      .meta({ description: "Roots, with their children inside, earliest first." }),
    is_slim: z.boolean().meta({
      description: `Whether the tree has no input, output and metadata, on request or because the trace is larger than ${apiLimits.fullTreeSpans} spans or ${apiLimits.fullTreeBytes} bytes.`,
    }),
    is_truncated: z
      .boolean()
      .meta({ description: `Whether spans beyond the first ${storageLimits.treeSpans} are omitted.` }),
  })
  .meta({ id: "RetrievedTrace" });

const tableTrace = traceSchema
  .extend({
    span_table: z
      .object({
        members: z
          .array(z.string())
          .meta({ description: "The members of spans, in the order of the values of a row." }),
        parents: z.array(z.int().nullable()).meta({
          description: "The index of the parent's row for each row; null for roots.",
        }),
        rows: z.array(z.array(z.unknown())).meta({
          description: "A row of values for each span, in the order of the tree: each directly before its descendants.",
        }),
      })
      .meta({ description: "The spans of the tree without nesting, with member names stated once." }),
    is_slim: retrievedTrace.shape.is_slim,
    is_truncated: retrievedTrace.shape.is_truncated,
  })
  .meta({ id: "TableTrace", description: "With `tree=table`." });

const flatTrace = traceSchema
  .extend({
    spans: pageOf(z.looseObject({ unique_id: z.string() })).meta({ description: "One page of the spans." }),
  })
  .meta({ id: "FlatTrace", description: "With `tree=flat`." });

type RetrieveTraceDeps = {
  spans: SpanStore;
  organizations: Pick<OrganizationStore, "find">;
  /** Resolves once previously accepted spans are stored, or after a timeout. */
  caughtUp: () => Promise<unknown>;
};

export const retrieveTrace = (deps: RetrieveTraceDeps) =>
  endpoint({
    id: "retrieve_trace",
    method: "GET",
    path: "/api/traces/{trace_unique_id}/",
    summary: "Retrieve a trace",
    description:
      "Figures and the tree of spans. Searches the environment of the key, then the other. A span whose parent is " +
      "not in the trace is a root; a cycle is broken above its earliest span; every span appears once. " +
      "Images, recordings and documents of more than 64 KB are references (`/api/media/{id}/`); `media=inline` returns the content instead.",
    tags: ["Traces"],
    auth: "key",
    permission: "spans:read",
    waitsInQueue: true,
    limit: "api",
    query: treeQuery,
    success: { status: 200, schema: z.union([retrievedTrace, tableTrace, flatTrace]) },
    errors: ["invalid_request", "not_found", "query_too_large", "unavailable"],
    async handler({ principal, params, query, url, signal }) {
      const organization = await findTraceOwner(deps.organizations, principal.organization_id);
      const traceId = readTraceId(params.trace_unique_id);
      const { environment = "all" } = query;
      const environments = environment === "all" ? environmentsFrom(principal.environment) : [environment];
      const wanted = { organization, traceId, environments, signal };
      const isTable = query.tree === "table";
      const isSlim = isTable || query.tree === "slim";
      const table = isTable ? { table: { members: query.include_fields } } : {};
      const read = async (): Promise<Reply | RawJson> => {
        if (query.tree !== "flat")
          return await presentWholeTrace(deps.spans, { ...wanted, isSlim, ...table, isPublic: false });
        const page = await readPlaced(deps.spans, wanted, {
          read: (place) => presentPage(deps.spans, place, { ...wanted, query, url }),
          isOneStatement: () => false,
        });
        return rawJson(page);
      };
      const answer = await read().catch(async (error: unknown) => {
        if (!(error instanceof ServiceError) || error.code !== "not_found") throw error;
        // Its first span may have been accepted after the last insert.
        await deps.caughtUp();
        return await read();
      });
      if (query.media !== "inline") return answer;
      return await withMedia(deps.spans, { organization_id: principal.organization_id }, answer, signal);
    },
  });

/** The trace with one page of its spans instead of its tree; undefined if there are no spans to show. */
async function presentPage(
  spans: SpanStore,
  place: TracePlace,
  request: TraceRequest & { query: { page: number; page_size: number }; url: URL },
): Promise<string | undefined> {
  const { organization, traceId, url, signal } = request;
  const { page, page_size: pageSize } = request.query;
  const scope = traceScope(place, organization.unique_organization_id);
  const [trace] = await spans.retrieveTraces(scope, traceId, signal);
  if (trace === undefined) return undefined;
  const columns = nodeFields("full");
  const [rows, [root]] = await Promise.all([
    spans.listTraceSpans(
      {
        scope,
        traceId,
        range: place.range,
        columns,
        limit: pageSize,
        offset: (page - 1) * pageSize,
      },
      signal,
    ),
    spans.hydrateSpans(scope, [trace.root], rootFields, signal),
  ]);
  const write = nodeWriter("full", columns);
  const results = rows.map((span) => `${fromByteString(write(span))}}`);
  const { results: nodes, ...envelope } = paginate({ url, page, pageSize, count: trace.span_count, results });
  const list = new JsonObjectWriter();
  for (const [name, value] of Object.entries(envelope)) list.value(name, value);
  list.raw("results", `[${nodes.join(",")}]`);
  return writeTrace(trace, root, organization).raw("spans", list.toString()).toString();
}
