import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import type { OrganizationStore } from "../../storage/control/organization-store.ts";
import type { TraceShareStore } from "../../storage/control/trace-share-store.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { traceNotFound } from "./trace-scope.ts";
import { retrievedTrace } from "./retrieve-trace.ts";
import { readTraceId } from "./trace-id.ts";
import { presentWholeTrace } from "./present-whole-trace.ts";
import { findTraceOwner } from "./trace-owner.ts";

const publicTrace = retrievedTrace
  .omit({ metadata: true, customer_identifier: true })
  .meta({ id: "PublicTrace", description: "A retrieved trace without metadata, customer and API key." });

type PublicTraceDeps = {
  spans: SpanStore;
  traceShares: Pick<TraceShareStore, "findPublic">;
  organizations: Pick<OrganizationStore, "find">;
};

export const retrievePublicTrace = (deps: PublicTraceDeps) =>
  endpoint({
    id: "retrieve_public_trace",
    method: "GET",
    path: "/api/{unique_organization_id}/traces/{trace_unique_id}/",
    summary: "Retrieve a shared trace",
    description:
      "Needs no credentials. A trace that is not shared is 404, whether it exists or not. Images, recordings and " +
      "documents of more than 64 KB are references to `…/media/{id}/` below this path, which needs no credentials either.",
    tags: ["Traces"],
    auth: "none",
    limit: "public_trace",
    waitsInQueue: true,
    query: z.object({
      tree: z.enum(["full", "slim"], { error: "tree must be one of full, slim" }).default("full").meta({
        description: "slim: without input and output of the spans.",
      }),
      media: z
        .enum(["reference"], { error: "media must be reference: the content is read at the paths in the answer" })
        .optional()
        .meta({ description: "A shared trace never holds the content of its media." }),
    }),
    success: { status: 200, schema: publicTrace },
    errors: ["invalid_request", "not_found", "query_too_large", "unavailable"],
    async handler({ params, query, signal }) {
      const [organizationId, traceId] = [params.unique_organization_id, params.trace_unique_id].map(readTraceId);
      if (organizationId === undefined || traceId === undefined) throw traceNotFound();
      const environments = await deps.traceShares.findPublic(organizationId, traceId);
      if (environments.length === 0) throw traceNotFound();
      const organization = await findTraceOwner(deps.organizations, organizationId);
      // Only these: a trace with that id in the other environment was not shared.
      const wanted = { organization, traceId, environments, signal };
      const base = `/api/${organizationId}/traces/${encodeURIComponent(traceId)}`;
      const mediaPath = (id: string) => `${base}/media/${id}/`;
      return await presentWholeTrace(deps.spans, {
        ...wanted,
        isSlim: query.tree === "slim",
        isPublic: true,
        mediaPath,
      });
    },
  });
