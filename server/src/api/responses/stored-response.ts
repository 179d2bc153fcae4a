import { z } from "zod";
import { gatewayLogMethod, type SpanRow } from "../../domain/span.ts";
import type { Catalogue } from "../../filter/catalogue.ts";
import { parseConditions } from "../../filter/parse.ts";
import { toClickHouse } from "../../filter/to-clickhouse.ts";
import { answerError, answerComplete } from "../../gateway/call/client-answer.ts";
import type { ResponseOwner } from "../../gateway/responses/response-owners.ts";
import type { StoredAction, StoredResponses } from "../../gateway/responses/stored-responses.ts";
import type { Context } from "../../http/endpoint.ts";
import type { Principal } from "../../domain/principal.ts";
import { apiLimits } from "../limits.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { gatewayErrorNotes, gatewayHeaders } from "../gateway-docs.ts";

/** Shared by the operations on responses that a provider stores. */

export type StoredResponseDeps = {
  storedResponses: StoredResponses;
  spans: Pick<SpanStore, "summarizeSpans">;
  catalogue: Catalogue<SpanRow>;
  now: () => number;
  /** Resolves once previously accepted spans are stored, or after a timeout. */
  caughtUp: () => Promise<unknown>;
};

export const storedResponse = {
  tags: ["Gateway"],
  auth: "key",
  permission: "gateway:call",
  dialect: "openai",
  params: z.object({ response_id: z.string() }),
  success: { status: 200, schema: z.looseObject({ id: z.string().optional() }), description: "The provider's answer." },
  docs: { headers: gatewayHeaders, errorNotes: gatewayErrorNotes },
  errors: ["invalid_request", "forbidden", "not_found", "no_credential", "upstream_failed", "unavailable"],
} as const;

export function storedPaths(below: string) {
  const [path = "", ...aliases] = ["/api/responses", "/v1/responses", "/responses", "/api/v1/responses"].map(
    (root) => `${root}/{response_id}${below}` as const,
  );
  return { path, aliases } as { path: `/${string}{response_id}${string}`; aliases: `/${string}`[] };
}

type StoredContext = Context<Extract<Principal, { kind: "key" }>, { response_id: string }>;

export async function actOnStored(
  deps: StoredResponseDeps,
  action: StoredAction,
  context: StoredContext,
): Promise<never> {
  const { principal, params, headers, rawQuery, signal } = context;
  const { organization_id, environment, permissions } = principal;
  const owner = { organization_id, environment };
  const answer = await deps.storedResponses.act(action, {
    owner,
    permissions,
    headers,
    id: params.response_id,
    query: rawQuery,
    signal,
    open: () => context.hijack(),
    isRecorded: (id, scope) => isRecorded(deps, scope, id, signal),
  });
  if (answer === undefined) return {} as never;
  const response = context.hijack();
  if ("error" in answer) answerError(response, answer.error, {}, (sendEnd) => sendEnd());
  else answerComplete(response, 200, answer.bytes, { "x-spanway-provider": answer.provider }, (sendEnd) => sendEnd());
  return {} as never;
}

/**
 * Whether a call of the organization and environment created the response. Spans that a client sent may name any id:
 * they prove nothing.
 */
async function isRecorded(
  { spans, catalogue, now, caughtUp }: StoredResponseDeps,
  scope: ResponseOwner,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  const conditions = [
    ["response_id", { value: [id] }],
    ["log_method", { value: [gatewayLogMethod] }],
  ] as const;
  const filter = toClickHouse(parseConditions(conditions, catalogue).filter, catalogue);
  const toNs = BigInt(now()) * 1_000_000n;
  const window = { fromNs: toNs - BigInt(apiLimits.responseSpanMs) * 1_000_000n, toNs };
  await caughtUp();
  return (await spans.summarizeSpans({ scope, window, filter }, signal)).number_of_requests > 0;
}
