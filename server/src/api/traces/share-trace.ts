import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import type { Environment, KeyPrincipal } from "../../domain/principal.ts";
import type { TraceShareStore } from "../../storage/control/trace-share-store.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { readTraceId } from "./trace-id.ts";
import { asEnvironment, environmentsFrom, inOrder } from "./trace-scope.ts";

const message = "is_public must be true or false";

type ShareTraceDeps = {
  traceShares: Pick<TraceShareStore, "set">;
  spans: Pick<SpanStore, "placeTraces">;
  /** Waits a moment for what was accepted to be stored. */
  caughtUp: () => Promise<void>;
  now: () => number;
};

const sharing = z.object({
  trace_unique_id: z.string(),
  is_public: z.boolean(),
  public_url: z
    .string()
    .nullable()
    .meta({ format: "uri", description: "Where anybody can read it; null where nobody can." }),
});

export const shareTrace = (deps: ShareTraceDeps) =>
  endpoint({
    id: "share_trace",
    method: "PATCH",
    path: "/api/traces/{trace_unique_id}/",
    summary: "Share a trace, or end its sharing",
    description:
      "A shared trace can be read by everyone who knows its address. Spans need not be there yet. " +
      "The sharing is that of this organisation's trace alone: the one in the environment of the key, unless only the other has one.",
    tags: ["Traces"],
    auth: "key",
    permission: "spans:write",
    limit: "api",
    body: {
      kind: "json",
      schema: z.looseObject({ is_public: z.boolean({ error: message }) }),
      example: { is_public: true },
    },
    success: { status: 200, schema: sharing },
    errors: ["invalid_request", "query_too_large", "unavailable"],
    async handler({ principal, params, body: { is_public }, url, signal }) {
      const trace_unique_id = readTraceId(params.trace_unique_id);
      const shown = is_public ? await environmentOf(deps, principal, trace_unique_id, signal) : undefined;
      await deps.traceShares.set({
        unique_organization_id: principal.organization_id,
        trace_unique_id,
        environment: shown ?? principal.environment,
        is_public,
        updated_at: new Date(deps.now()).toISOString(),
      });
      const path = `${principal.organization_id}/traces/${encodeURIComponent(trace_unique_id)}/`;
      const public_url = new URL(`${url.pathname.endsWith("/") ? "../../" : "../"}${path}`, url);
      public_url.search = "";
      return { trace_unique_id, is_public, public_url: is_public ? public_url.href : null };
    },
  });

/** Where the trace is that its sharer sees; undefined of one without spans. */
async function environmentOf(
  { spans, caughtUp }: Pick<ShareTraceDeps, "spans" | "caughtUp">,
  { organization_id, environment }: Pick<KeyPrincipal, "organization_id" | "environment">,
  traceId: string,
  signal: AbortSignal,
): Promise<Environment | undefined> {
  await caughtUp();
  const places = await spans.placeTraces({ organization_id }, traceId, signal);
  const [place] = inOrder(places, environmentsFrom(environment));
  return place && asEnvironment(place.environment);
}
