import type { IncomingHttpHeaders } from "node:http";
import { randomBytes } from "node:crypto";
import { customerLimits } from "../../domain/customer.ts";
import { ServiceError } from "../../domain/errors.ts";
import { domainLimits } from "../../domain/limits.ts";
import type { Permission } from "../../domain/permissions.ts";
import { paramsFields, paramsHeaders, productFamilies } from "../../domain/product-families.ts";
import { httpLimits } from "../../http/limits.ts";
import { exceedsShape, isObject, parseJson, parseStrictJson } from "../../lib/json.ts";
import { Problem } from "../../validation/field-readers.ts";
import {
  about,
  boolean,
  credentialText,
  customerIdentifier,
  customerParams,
  either,
  flag,
  identifier,
  listOf,
  mapOf,
  name,
  object,
  objectOf,
  positive,
  positiveOrZero,
  wholeNumber,
  word,
  type JsonSchema,
  type ParamReader,
  type ValuesOf,
} from "./param-readers.ts";

/** One provider's credential as the caller sends it: `{api_key, api_base, api_version, …}`. */
const credential = mapOf(either(credentialText, object));

const weightedModel = objectOf({ model: word, weight: positive, credentials: credential }, { required: ["model"] });

const weightedCredentials = objectOf(
  {
    credentials: mapOf(credential),
    weight: positive,
    available_models: listOf(word),
    exclude_models: listOf(word),
  },
  { required: ["credentials"] },
);

/** The parameters for the gateway beside the provider's own, with their names on the wire. Times are seconds. */
const readers = {
  // Routing
  fallback_models: about("Names that are tried in order when `model` fails before its first byte.", listOf(word)),
  disable_fallback: about("Only the first model is called.", flag),
  load_balance_group: about(
    "Instead of `model`: a weighted random choice, with the others as fallbacks. Groups are not stored: `models` are its members.",
    objectOf({ group_id: word, models: listOf(weightedModel) }),
  ),
  load_balance_models: about("The same as a list.", listOf(weightedModel)),
  models: about("Further names, before the fallbacks.", listOf(word)),
  exclude_providers: about("Names that must not answer.", listOf(word)),
  exclude_models: about("Names that must not answer.", listOf(word)),
  model_name_map: about("Deployments by model, for Azure.", mapOf(word)),
  weight: positive,
  retry_params: about(
    "`retry_after` in seconds.",
    objectOf(
      { retry_enabled: flag, num_retries: wholeNumber(1, 100), retry_after: positive },
      { required: ["retry_enabled"], isClosed: true },
    ),
  ),
  retries: about("Retries of each model; 2 by default.", wholeNumber(0, 100)),
  customer_credentials: about(
    "`{provider: {api_key, base_url}}` instead of stored ones, or a weighted list of them.",
    either(mapOf(credential), listOf(weightedCredentials)),
  ),
  credential_override: about("Credentials by model or provider, for this call.", mapOf(credential)),

  // Cache
  cache_enabled: about("Equal requests may get the same cached answer.", flag),
  cache_ttl: about("Seconds that the answer is cached: 30 days by default.", positiveOrZero),
  cache_options: objectOf({ cache_by_customer: flag, is_cached_by_model: flag, omit_log: flag }),

  // Customer
  customer_params: about("The customer, with name, e-mail, budgets and rate limit, which are stored.", customerParams),
  customer_identifier: about("The customer of the call, whose budgets apply.", customerIdentifier),
  customer_email: identifier,
  customer_name: name,

  // The record
  disable_log: about("Only metrics are stored, no content.", flag),
  request_breakdown: about(
    "The response includes the usage, cost and times of the call; a stream in its last chunk.",
    flag,
  ),
  metadata: about("Stored with the span; not sent to the provider.", object),
  properties: about("The same, for values that must keep their types.", object),
  custom_identifier: identifier,
  group_identifier: identifier,
  evaluation_identifier: identifier,
  thread_identifier: identifier,
  session_identifier: identifier,
  trace_unique_id: about("With `span_unique_id` it identifies the span.", identifier),
  span_unique_id: identifier,
  span_parent_id: identifier,
  trace_group_identifier: identifier,
  span_name: name,
  span_workflow_name: name,
  positive_feedback: boolean,
  variables: object,
} as const satisfies Record<string, ParamReader<unknown>>;

export type ServiceParams = ValuesOf<typeof readers>;

/** JSON Schemas of the parameters by name, for the API reference. */
export const serviceParamSchemas: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  Object.entries<ParamReader<unknown>>(readers).map(([param, { schema }]) => [param, schema]),
);

/**
 * Parameters that refer to objects which Spanway does not store. Ignoring them would change the meaning of the request.
 */
const storedElsewhere: ReadonlyMap<string, (value: unknown) => string | undefined> = new Map([
  ["prompt", storedPrompt],
]);

/** Other prompts belong to the provider: OpenAI's own `{id, version}`, and the `prompt` of a transcription. */
function storedPrompt(value: unknown): string | undefined {
  if (!isObject(value) || value["prompt_id"] === undefined) return undefined;
  return "names a stored prompt, and prompts are not stored here: send its text, with its variables filled in, as messages";
}

/** Other spellings of parameters. The current name wins if both are sent. */
const aliases: Record<string, keyof typeof readers> = {
  loadbalance_models: "load_balance_models",
  workflow_name: "span_workflow_name",
};

const readerOf: ReadonlyMap<string, { param: string; read: ParamReader<unknown> }> = new Map([
  ...Object.entries<ParamReader<unknown>>(readers).map(([param, read]) => [param, { param, read }] as const),
  ...Object.entries(aliases).map(([alias, param]) => [alias, { param, read: readers[param] }] as const),
]);

const nestedFields: ReadonlySet<string> = new Set(paramsFields);

/** Whether a member of a request's body is a service parameter, which no provider receives. */
export function isServiceParam(member: string): boolean {
  return readerOf.has(member) || nestedFields.has(member);
}

/**
 * A member's value from the text of a form field: the text itself if the parameter may be text, else the text parsed as
 * JSON. Members that are not service parameters stay text.
 */
export function memberOfText(member: string, text: string): unknown {
  const known = readerOf.get(member);
  const isText = known === undefined ? !nestedFields.has(member) : !(known.read(text) instanceof Problem);
  if (isText) return text;
  const parsed = parseJson(Buffer.from(/^(?:true|false)$/i.test(text) ? text.toLowerCase() : text));
  return parsed.ok ? parsed.value : text;
}

/**
 * The service parameters of a request from the three places, merged by parameter: members of the body, then
 * `svc_params` and its legacy names, then the header and its legacy names. `null` counts as absent. Standard headers
 * and `user` complete them, see `withCallerContext`.
 * @throws ServiceError `invalid_request` naming the parameter; `forbidden` naming limits that the caller may not set
 */
export function readServiceParams(
  body: Record<string, unknown>,
  { headers, permissions }: ParamsCaller,
): ServiceParams {
  const values: Record<string, unknown> = {};
  take(body, "", values);
  for (const field of paramsFields) {
    const nested = body[field];
    if (nested === undefined || nested === null) continue;
    if (!isObject(nested)) throw badParam(field, "must be an object");
    take(nested, `${field}.`, values);
  }
  for (const header of paramsHeaders) {
    const text = headers[header];
    if (typeof text === "string" && text !== "") take(decodeHeader(header, text), `${header}: `, values);
  }
  const params = withCallerContext(typedByReaders(values), body, headers);
  checkCustomer(params);
  if (params.customer_params !== undefined && !permissions.has("customers:write")) refuseLimits(params.customer_params);
  return params;
}

export type ParamsCaller = { headers: IncomingHttpHeaders; permissions: ReadonlySet<Permission> };

/** A key that serves customers must not let them raise their own limits. Null is a change too: it removes a limit. */
function refuseLimits(customerParams: Readonly<Record<string, unknown>>): void {
  const names = customerLimits.filter((field) => Object.hasOwn(customerParams, field));
  if (names.length === 0) return;
  const fields = names.map((name) => `customer_params.${name}`);
  const message = "takes the permission customers:write, which this key lacks";
  const errors = Object.fromEntries(fields.map((field) => [field, [message]]));
  throw new ServiceError("forbidden", `${fields.join(", ")} ${message}.`, { errors });
}

/** Members of `customer_params` that are refused without a customer. */
const bounds = ["period_budget", "total_budget", "rate_limit"];

/** One call has one customer: the one whose budget it changes. */
function checkCustomer({ customer_identifier, customer_params = {} }: ServiceParams): void {
  const named = customer_params["customer_identifier"];
  const isBound = bounds.some((bound) => (customer_params[bound] ?? undefined) !== undefined);
  if (isBound && customer_identifier === undefined && (named ?? "") === "") {
    throw badParam("customer_params.customer_identifier", "must say whose budget it is");
  }
  if (customer_identifier === undefined || typeof named !== "string" || named === "" || named === customer_identifier)
    return;
  throw badParam("customer_params.customer_identifier", "must be the same as customer_identifier");
}

function take(source: Record<string, unknown>, place: string, values: Record<string, unknown>): void {
  const before = Object.keys(values);
  for (const key of Object.keys(source)) {
    const known = readerOf.get(key);
    const raw = source[key];
    const missing = storedElsewhere.get(key)?.(raw);
    if (missing !== undefined) throw badParam(place + key, missing);
    if (known === undefined || raw === null || raw === undefined) continue;
    const value = known.read(raw);
    // A value that a stronger place overrides must be valid too, so that mistakes are always reported.
    if (value instanceof Problem) throw badParam(place + key, value.message);
    const isWeaker = before.includes(known.param) || (key !== known.param && values[known.param] !== undefined);
    if (!isWeaker && value !== undefined) values[known.param] = value;
  }
}

function decodeHeader(header: string, text: string): Record<string, unknown> {
  // Buffer ignores what is not base64; the JSON parser then fails.
  const parsed = parseStrictJson(Buffer.from(text, "base64"));
  if (!parsed.ok || !isObject(parsed.value)) throw badParam(header, "must be a JSON object in base64");
  if (exceedsShape(parsed.value, httpLimits.controlBodyDepth, httpLimits.controlBodyNodes) !== undefined) {
    throw badParam(header, `must not nest deeper than ${httpLimits.controlBodyDepth} levels`);
  }
  return parsed.value;
}

function badParam(param: string, message: string): ServiceError {
  return new ServiceError("invalid_request", `${param} ${message}.`, { errors: { [param]: [message] } });
}

/** Safe because each member comes from the reader that determines its type. */
function typedByReaders(values: Record<string, unknown>): ServiceParams {
  return values;
}

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
