import { maxHeaderSize } from "node:http";
import { z } from "zod";
import { betaHeaders, paramsHeaders, routeProviderHeaders } from "../domain/product-families.ts";
import { customerLimits } from "../domain/customer.ts";
import { httpLimits } from "../http/limits.ts";
import { serviceParamSchemas } from "../gateway/request/service-params.ts";

/** The parts of the API reference that all gateway operations share. */

const params = Object.fromEntries(
  Object.entries(serviceParamSchemas).map(([name, schema]) => [name, z.unknown().optional().meta(schema)]),
);
const serviceParams = z
  .looseObject(params)
  .meta({ id: "ServiceParams", description: "Not sent to any provider; null counts as absent." });

/** Members of a body that the gateway itself consumes: service parameters, at the top level or nested. */
export const serviceParamMembers = { ...params, svc_params: serviceParams.optional() };

const [paramsHeader = ""] = paramsHeaders;
const [providerHeader = ""] = routeProviderHeaders;
const [betaHeader = ""] = betaHeaders;

export const gatewayHeaders = {
  request: {
    [paramsHeader]:
      "Service parameters as a JSON object in base64; members of the body and of `svc_params` win. All headers together have at most " +
      `${maxHeaderSize} bytes (431 beyond), and the object nests at most ${httpLimits.controlBodyDepth} levels deep and holds at most ` +
      `${httpLimits.controlBodyNodes} values (400 beyond).`,
    [providerHeader]: "The provider to call, regardless of the model's name.",
    [betaHeader]: "Flags, separated by commas: token-breakdown-2026-03-26, env-scoped-integrations-2026-03-28.",
  },
  answer: {
    "x-request-id": "The request.",
    "x-spanway-log-id": "The span of the call; absent if there is none.",
    "x-spanway-attempts": "Number of calls to providers.",
    "x-spanway-overhead-ms": "The gateway's own share of the time.",
    "x-spanway-provider": "Who answered.",
    "x-spanway-model": "The model, as its provider calls it.",
    "x-spanway-cache": "`hit` or `miss`.",
    "x-spanway-adjusted":
      "Members of the request that were changed or omitted, because the provider does not accept them.",
  },
  error: {
    "retry-after": "Seconds, on 429 and 503, and on 424 if the provider states a delay.",
    "x-should-retry": "`false` if a retry is useless.",
  },
} as const;

/** Service parameters with the effect of another route. */
export const gatewayParameters = [
  { parameter: `\`customer_params\` with ${customerLimits.join(", ")}`, permission: "customers:write" },
] as const;

/** The same for operations that accept them only in the header. */
export const gatewayHeaderParameters = gatewayParameters.map(({ parameter, permission }) => ({
  parameter: `${parameter} in the header`,
  permission,
}));

/** Values of `code` in addition to those of every operation, by status. */
export const gatewayErrorNotes = {
  400: "The gateway or the provider rejected the request; with a provider's own message.",
  413: "The body is too large, or contains too many values.",
  424: "No provider served the call: `code` is `upstream_rate_limited`, `upstream_overloaded`, `upstream_timeout`, `upstream_authentication_failed`, `upstream_out_of_credit`, `no_credential`, `upstream_failed`, `timeout`, `bad_reply`, `stream_truncated` or the provider's own.",
  429: "`budget_exceeded` or `rate_limited`, for the customer.",
  503: "The server is overloaded or stopping.",
} as const;

/** Errors that the handlers of all these operations may return. */
export const gatewayErrors = [
  "invalid_request",
  "forbidden",
  "payload_too_large",
  "no_credential",
  "upstream_failed",
  "rate_limited",
  "unavailable",
] as const;

/** The same for routes that relay Anthropic's responses. */
export const messagesDocs = {
  headers: {
    request: {
      "anthropic-version": "Passed on unchanged, like all headers of Anthropic's API.",
      "anthropic-beta": "Names of features, separated by commas.",
      ...gatewayHeaders.request,
      [paramsHeader]:
        gatewayHeaders.request[paramsHeader]?.replace("; members of the body and of `svc_params` win", "") ?? "",
    },
    answer: {
      ...gatewayHeaders.answer,
      "request-id": "Anthropic's id of the request, or the gateway's if there is none.",
    },
    error: gatewayHeaders.error,
  },
  errorNotes: {
    400: "The gateway or Anthropic rejected the request, or the model belongs to another provider.",
    413: gatewayErrorNotes[413],
    429: "The customer's budget or rate, or Anthropic's limit.",
    503: gatewayErrorNotes[503],
  },
} as const;

export const messagesErrors = [
  "invalid_request",
  "forbidden",
  "payload_too_large",
  "rate_limited",
  "unavailable",
] as const;

/** The format of a stream, for clients that parse events themselves. */
export const eventStream = { "text/event-stream": "Server-sent events, where `stream` is true." } as const;
