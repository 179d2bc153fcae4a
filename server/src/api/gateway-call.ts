import { gatewayLogMethod } from "../domain/span.ts";
import type { ChatCall } from "../gateway/chat.ts";
import type { Context, RawBodyValue } from "../http/endpoint.ts";
import { originOf } from "./request-logs/read-span-bodies.ts";

/** A request as the gateway takes it. From here on the gateway writes the response and ends it. */
export function gatewayCall(
  context: Context<Parameters<typeof originOf>[0], unknown, unknown, RawBodyValue>,
): ChatCall {
  return {
    origin: originOf(context.principal, gatewayLogMethod),
    bytes: context.body.bytes,
    headers: context.headers,
    signal: context.signal,
    startedAtMs: context.startedAtMs,
    elapsedMs: () => context.elapsedMs(),
    response: context.hijack(),
  };
}
