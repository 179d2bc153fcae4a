import { ServiceError } from "../domain/errors.ts";
import { refusedToBlocked } from "../domain/permissions.ts";
import { requirePermission, type Principal } from "../domain/principal.ts";
import { GateRefusal } from "../lib/fair-gate.ts";
import { auditedAction } from "./audit.ts";
import type { AnyEndpoint, InnerRequest, Context } from "./endpoint.ts";
import { errorReply } from "./error-reply.ts";
import type { Kernel } from "./kernel.ts";
import { jsonPayload, Reply } from "./reply.ts";
import { refuseUnknown, validate, validateQuery } from "./validate.ts";

/** The caller of an operation, authenticated or not. */
type Caller = Context & { readonly principal: Principal | undefined };

/**
 * Admits a caller. Throws `organization_blocked` or `rate_limited`. Undefined if the route has no limit, as most have
 * none: awaiting a promise would cost a microtask.
 */
export function admit(kernel: Kernel, endpoint: AnyEndpoint, path: string, caller: Caller): Promise<void> | undefined {
  const { permission, limit } = endpoint;
  if (permission !== undefined && refusedToBlocked.has(permission)) refuseBlocked(kernel, caller.principal);
  return limit === "none" ? undefined : countAgainstLimit(kernel, limit, path, caller);
}

async function countAgainstLimit(
  kernel: Kernel,
  limit: Exclude<AnyEndpoint["limit"], "none">,
  path: string,
  caller: Caller,
): Promise<void> {
  const retryAfterS = await kernel.rateLimiter.consume(limit, { principal: caller.principal, ip: caller.ip, path });
  if (retryAfterS === undefined) return;
  kernel.metrics.limited.inc({ rule: limit });
  throw new ServiceError("rate_limited", `Too many requests. Try again in ${retryAfterS} s.`, { retryAfterS });
}

/** A blocked organization can add nothing, neither logs nor calls; it may still read and delete. */
function refuseBlocked(kernel: Kernel, principal: Principal | undefined): void {
  if (principal === undefined || !kernel.isBlocked(principal.organization_id)) return;
  throw new ServiceError("organization_blocked", "This organization is blocked. Please contact the operator.");
}

/** Runs the handler of a validated request, in the fair queue if it takes turns, and writes its audit entry. */
export async function run(kernel: Kernel, endpoint: AnyEndpoint, context: Caller): Promise<unknown> {
  const result = endpoint.waitsInQueue
    ? await inTurn(kernel, context, async () => endpoint.handler(context))
    : await endpoint.handler(context);
  if (endpoint.isAudited && context.principal !== undefined) {
    await kernel.audit(auditedAction(endpoint, context, context.principal, result));
  }
  return result;
}

/** A burst of reads waits here; otherwise all of them would be in memory together, or fail. */
async function inTurn(kernel: Kernel, context: Caller, read: () => Promise<unknown>): Promise<unknown> {
  const party = context.principal?.organization_id ?? "";
  try {
    const turn = kernel.reading.run(party, context.signal, read);
    kernel.metrics.readsWaiting.set(kernel.reading.waiting);
    return await turn;
  } catch (error) {
    if (!(error instanceof GateRefusal)) throw error;
    kernel.metrics.readRefusals.inc({ reason: error.reason });
    const detail = "The server has too many reads in progress. Please try again.";
    throw new ServiceError("unavailable", detail, { retryAfterS: 2, cause: error });
  } finally {
    kernel.metrics.readsWaiting.set(kernel.reading.waiting);
  }
}

export function checkParams(schema: NonNullable<AnyEndpoint["params"]>, params: unknown): unknown {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  throw new ServiceError("not_found", "Not found.");
}

/** The `method` label in metrics of an operation that another one performs. */
const innerMethod = "inner";

/** `Context.perform`: does what a separate request would do, except for parsing it. Never rejects. */
export async function perform(
  kernel: Kernel,
  endpoint: AnyEndpoint,
  caller: Caller,
  request: InnerRequest,
): Promise<Reply> {
  const started = performance.now();
  const route = endpoint.path;
  const answered = await answer(kernel, endpoint, caller, request).catch((error: unknown) => {
    const { requestId, signal } = caller;
    if (!(error instanceof ServiceError) && !signal.aborted) {
      kernel.logger.error({ err: error, request_id: requestId, route }, "request failed");
    }
    return errorReply(error, { dialect: "default", requestId, requestContentType: "" });
  });
  kernel.metrics.requests.inc({ route, method: innerMethod, status: String(answered.status) });
  kernel.metrics.durationS.observe({ route }, (performance.now() - started) / 1000);
  return answered;
}

async function answer(kernel: Kernel, endpoint: AnyEndpoint, caller: Caller, request: InnerRequest): Promise<Reply> {
  const { permission, success } = endpoint;
  if (caller.principal !== undefined && permission !== undefined) requirePermission(caller.principal, permission);
  await admit(kernel, endpoint, endpoint.path, caller);
  const result = await run(kernel, endpoint, innerContext(endpoint, caller, request));
  return result instanceof Reply ? result : new Reply(success.status, jsonPayload(result));
}

function innerContext(endpoint: AnyEndpoint, caller: Caller, request: InnerRequest): Caller {
  const rawQuery = new URLSearchParams(request.query);
  const search = rawQuery.size === 0 ? "" : `?${rawQuery.toString()}`;
  return {
    principal: caller.principal,
    params: endpoint.params === undefined ? request.params : checkParams(endpoint.params, request.params),
    query: endpoint.query === undefined ? undefined : validateQuery(endpoint.query, request.query),
    body: endpoint.body?.kind === "json" ? checkBody(endpoint.body, request.body) : undefined,
    method: endpoint.method,
    headers: caller.headers,
    rawQuery,
    search,
    url: new URL(endpoint.path + search, caller.url),
    origins: caller.origins,
    requestId: caller.requestId,
    ip: caller.ip,
    signal: caller.signal,
    startedAtMs: caller.startedAtMs,
    elapsedMs: () => caller.elapsedMs(),
    perform: (inner, innerRequest) => caller.perform(inner, innerRequest),
    hijack() {
      throw new Error(`${endpoint.id} writes its own response, which cannot be used here`);
    },
  };
}

type JsonBody = Extract<AnyEndpoint["body"], { kind: "json" }>;

export function checkBody({ schema, shown, invalidBody }: JsonBody, body: unknown): unknown {
  if (shown !== undefined) refuseUnknown(body, [schema, shown], invalidBody);
  return validate(schema, body, invalidBody);
}
