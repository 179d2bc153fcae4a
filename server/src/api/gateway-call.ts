import { gatewayLogMethod } from "../domain/span.ts";
import type { GatewayCall } from "../gateway/call/operation.ts";
import type { UnreadCall } from "../gateway/record/record-refusal.ts";
import type { Context, RawBodyValue } from "../http/endpoint.ts";
import { originOf } from "../ingest/normalize/normalize.ts";

type Caller = Parameters<typeof originOf>[0];

/** A request in the form that the gateway takes. From then on, the gateway writes and ends the response. */
export function gatewayCall(context: Context<Caller, unknown, unknown, RawBodyValue>): GatewayCall {
  return {
    ...unreadCall(context),
    bytes: context.body.bytes,
    requestId: context.requestId,
    search: context.search,
    signal: context.signal,
    response: context.hijack(),
  };
}

/** What is known of a request before its body is read. */
export function unreadCall(context: Context<Caller>): UnreadCall {
  return {
    permissions: context.principal.permissions,
    origin: originOf(context.principal, gatewayLogMethod),
    headers: context.headers,
    startedAtMs: context.startedAtMs,
    elapsedMs: () => context.elapsedMs(),
  };
}
