import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import type { TraceShareStore } from "../../storage/control/trace-share-store.ts";
import { readTraceId } from "./trace-id.ts";

const message = "is_public must be true or false";

export const shareTrace = (deps: { traceShares: TraceShareStore; now: () => number }) =>
  endpoint({
    id: "share_trace",
    method: "PATCH",
    path: "/api/traces/{trace_unique_id}/",
    summary: "Share a trace, or end its sharing",
    description:
      "A shared trace can be read by everyone who knows its address. Spans need not be there yet. " +
      "The sharing is that of this organisation's trace alone.",
    tags: ["Traces"],
    auth: "key",
    permission: "spans:write",
    body: { kind: "json", schema: z.looseObject({ is_public: z.boolean({ error: message }) }) },
    success: { status: 200, schema: z.object({ trace_unique_id: z.string(), is_public: z.boolean() }) },
    errors: ["invalid_request"],
    async handler({ principal, params, body: { is_public } }) {
      const trace_unique_id = readTraceId(params.trace_unique_id);
      await deps.traceShares.set({
        unique_organization_id: principal.organization_id,
        trace_unique_id,
        environment: principal.environment,
        is_public,
        updated_at: new Date(deps.now()).toISOString(),
      });
      return { trace_unique_id, is_public };
    },
  });
