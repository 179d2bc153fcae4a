import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { requireOwnEnvironment, type KeyPrincipal } from "../../domain/principal.ts";
import type { TraceShareStore } from "../../storage/control/trace-share-store.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { readTraceId } from "./trace-id.ts";
import { asEnvironment, environmentsFrom, inOrder } from "./trace-scope.ts";

const message = "is_public must be true or false";

type ShareTraceDeps = {
  traceShares: Pick<TraceShareStore, "set">;
  spans: Pick<SpanStore, "placeTraces">;
  /** Waits a moment for accepted spans to be stored. */
  caughtUp: () => Promise<unknown>;
  now: () => number;
};

/** The sharing state of a trace. */
export const sharing = z.object({
  trace_unique_id: z.string(),
  is_public: z.boolean(),
  public_url: z
    .string()
    .nullable()
    .meta({ format: "uri", description: "The URL at which anybody can read it; null if it is not shared." }),
});

export const shareTrace = (deps: ShareTraceDeps) =>
  endpoint({
    id: "share_trace",
    method: "PATCH",
    path: "/api/traces/{trace_unique_id}/",
    summary: "Share a trace, or stop sharing it",
    description:
      "A shared trace can be read by everyone who knows its URL. It may be shared before its spans arrive. " +
      "Applies only to this organization's trace in the environment of the key.",
    tags: ["Traces"],
    auth: "key",
    permission: "traces:share",
    environment: "own",
    limit: "api",
    body: {
      kind: "json",
      schema: z.looseObject({ is_public: z.boolean({ error: message }) }),
      example: { is_public: true },
    },
    success: { status: 200, schema: sharing },
    errors: ["invalid_request", "forbidden", "query_too_large", "unavailable"],
    async handler({ principal, params, body: { is_public }, url, signal }) {
      const trace_unique_id = readTraceId(params.trace_unique_id);
      await refuseElsewhere(deps, principal, trace_unique_id, signal);
      await deps.traceShares.set({
        unique_organization_id: principal.organization_id,
        trace_unique_id,
        environment: principal.environment,
        is_public,
        updated_at: new Date(deps.now()).toISOString(),
      });
      const organizationId = principal.organization_id;
      const public_url = is_public ? publicUrl({ url, levels: 2, organizationId, traceId: trace_unique_id }) : null;
      return { trace_unique_id, is_public, public_url };
    },
  });

/** The URL of a shared trace. `levels`: of the request's path below `/api/`. */
export function publicUrl(trace: { url: URL; levels: number; organizationId: string; traceId: string }): string {
  const { url, levels, organizationId, traceId } = trace;
  const up = "../".repeat(url.pathname.endsWith("/") ? levels : levels - 1);
  const found = new URL(`${up}${organizationId}/traces/${encodeURIComponent(traceId)}/`, url);
  found.search = "";
  return found.href;
}

/** A trace that exists only in the other environment is refused; one without spans may be shared before they arrive. */
async function refuseElsewhere(
  { spans, caughtUp }: Pick<ShareTraceDeps, "spans" | "caughtUp">,
  principal: KeyPrincipal,
  traceId: string,
  signal: AbortSignal,
): Promise<void> {
  await caughtUp();
  const places = await spans.placeTraces({ organization_id: principal.organization_id }, traceId, signal);
  const [place] = inOrder(places, environmentsFrom(principal.environment));
  if (place !== undefined) requireOwnEnvironment(principal, asEnvironment(place.environment), "this trace");
}
