import { ServiceError } from "../domain/errors.ts";
import { requirePermission } from "../domain/principal.ts";
import type { AnyEndpoint, InnerRequest } from "./endpoint.ts";
import { errorReply } from "./error-reply.ts";
import type { Kernel } from "./kernel.ts";
import { jsonPayload, Reply } from "./reply.ts";
import { admit, checkBody, checkParams, run, type Caller } from "./serve.ts";
import { validateQuery } from "./validate.ts";

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
