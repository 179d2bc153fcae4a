import { endpoint } from "../../http/endpoint.ts";
import type { TraceShareStore } from "../../storage/control/trace-share-store.ts";
import { publicUrl, sharing } from "./share-trace.ts";
import { readTraceId } from "./trace-id.ts";

export const retrieveSharing = (deps: { traceShares: Pick<TraceShareStore, "findPublic"> }) =>
  endpoint({
    id: "retrieve_sharing",
    method: "GET",
    path: "/api/traces/{trace_unique_id}/sharing/",
    summary: "Retrieve the sharing state of a trace",
    description:
      "For the trace in the environment of the key. A trace that was never shared or does not exist is not shared.",
    tags: ["Traces"],
    auth: "key",
    permission: "spans:read",
    limit: "api",
    success: { status: 200, schema: sharing },
    errors: ["invalid_request"],
    handler: async ({ principal, params, url }) => {
      const { organization_id: organizationId, environment } = principal;
      const trace_unique_id = readTraceId(params.trace_unique_id);
      const is_public = (await deps.traceShares.findPublic(organizationId, trace_unique_id)).includes(environment);
      const public_url = is_public ? publicUrl({ url, levels: 3, organizationId, traceId: trace_unique_id }) : null;
      return { trace_unique_id, is_public, public_url };
    },
  });
