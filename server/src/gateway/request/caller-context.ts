import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { productFamilies } from "../../domain/product-families.ts";
import { domainLimits } from "../../domain/limits.ts";
import type { ServiceParams } from "./service-params.ts";

/**
 * Completes the service parameters of a call from standard headers and members. A parameter wins over baggage, and
 * baggage over OpenAI's `user`.
 * - `traceparent` (W3C): the call's span becomes a child of the caller's span, in its trace.
 * - `baggage` (W3C): customer, thread and session, under the names in `baggageNames`.
 * - `user` of the body: the customer.
 */
export function withCallerContext(
  params: ServiceParams,
  body: Record<string, unknown>,
  headers: IncomingHttpHeaders,
): ServiceParams {
  const { traceparent, baggage } = headers;
  const { user } = body;
  const hasCustomer = (params.customer_identifier ?? params.customer_params?.["customer_identifier"] ?? "") !== "";
  const mayName = typeof user === "string" && user !== "" && !hasCustomer;
  if (traceparent === undefined && baggage === undefined && !mayName) return params;
  const named = typeof baggage === "string" ? readBaggage(baggage) : {};
  if (hasCustomer) delete named.customer_identifier;
  const context = { ...(typeof traceparent === "string" && placeIn(traceparent, params)), ...named };
  if (mayName && user.length <= domainLimits.identifierChars) context.customer_identifier ??= user;
  return { ...context, ...params };
}

// Version 00 has four parts; later ones may have more. Version ff and ids of zeros are invalid.
const traceparentPattern =
  /^(?!ff)(?:00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}|(?!00)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?)$/;

type Place = { trace_unique_id?: string; span_parent_id?: string; span_unique_id?: string };

/** Empty if the header is invalid or the caller set the span's place. */
function placeIn(traceparent: string, params: ServiceParams): Place {
  if (params.trace_unique_id !== undefined || params.span_parent_id !== undefined) return {};
  const [, trace, parent, laterTrace, laterParent] = traceparentPattern.exec(traceparent.trim()) ?? [];
  const trace_unique_id = trace ?? laterTrace;
  const span_parent_id = parent ?? laterParent;
  if (trace_unique_id === undefined || span_parent_id === undefined) return {};
  return { trace_unique_id, span_parent_id, span_unique_id: randomBytes(8).toString("hex") };
}

type Named = { customer_identifier?: string; thread_identifier?: string; session_identifier?: string };

const own = (...names: string[]) =>
  names.flatMap((name) => [name, ...productFamilies.map((family) => `${family}.${name}`)]);

/** The accepted names of `baggage` members. */
const baggageNames: ReadonlyMap<string, keyof Named> = new Map([
  ...[...own("customer_identifier", "customer_params.customer_identifier"), "customer.id", "customer.identifier"].map(
    (name) => [name, "customer_identifier"] as const,
  ),
  ...[...own("thread_identifier", "threads.thread_identifier"), "thread.id", "gen_ai.conversation.id"].map(
    (name) => [name, "thread_identifier"] as const,
  ),
  ...[...own("session_identifier", "sessions.session_identifier"), "session.id"].map(
    (name) => [name, "session_identifier"] as const,
  ),
]);

/** W3C Baggage: `key=value;property,…`, values percent-encoded. Malformed or too long values are ignored. */
function readBaggage(text: string): Named {
  const named: Named = {};
  for (const member of text.split(",")) {
    const [pair = ""] = member.split(";");
    const at = pair.indexOf("=");
    const field = at === -1 ? undefined : baggageNames.get(pair.slice(0, at).trim());
    if (field === undefined) continue;
    const value = decoded(pair.slice(at + 1).trim());
    if (value !== "" && value.length <= domainLimits.identifierChars) named[field] ??= value;
  }
  return named;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text).toWellFormed().replaceAll("\0", "\ufffd");
  } catch {
    return "";
  }
}
