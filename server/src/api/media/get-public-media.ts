import { endpoint } from "../../http/endpoint.ts";
import type { TraceShareStore } from "../../storage/control/trace-share-store.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { readTraceId } from "../traces/trace-id.ts";
import { traceNotFound } from "../traces/trace-scope.ts";
import { sendMedia } from "./get-media.ts";

export const getPublicMedia = (deps: {
  spans: Pick<SpanStore, "readMedia">;
  traceShares: Pick<TraceShareStore, "findPublic">;
}) =>
  endpoint({
    id: "get_public_media",
    method: "GET",
    path: "/api/{unique_organization_id}/traces/{trace_unique_id}/media/{id}/",
    summary: "Get an image, recording or document of a shared trace",
    description: "Needs no credentials. 404 unless the trace is shared and one of its spans refers to it.",
    tags: ["Traces"],
    auth: "none",
    limit: "public_trace",
    waitsInQueue: true,
    success: {
      status: 200,
      contentType: "application/octet-stream",
      description: "The bytes, with their own media type",
    },
    errors: ["not_found", "unavailable"],
    async handler({ params, signal }) {
      const [organization_id, trace_unique_id] = [params.unique_organization_id, params.trace_unique_id].map(
        readTraceId,
      );
      if (organization_id === undefined || trace_unique_id === undefined) throw traceNotFound();
      const environments = await deps.traceShares.findPublic(organization_id, trace_unique_id);
      if (environments.length === 0) throw traceNotFound();
      const of = { organization_id, trace: { trace_unique_id, environments } };
      return sendMedia(await deps.spans.readMedia(of, [params.id], { signal }));
    },
  });
