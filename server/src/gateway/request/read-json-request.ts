import { ServiceError } from "../../domain/errors.ts";
import { domainLimits } from "../../domain/limits.ts";
import { applyParams, type CallLedger } from "../call/call-ledger.ts";
import type { AnswerReader, CallRequest, GatewayCall } from "../call/operation.ts";
import { checkTokenBounds, readMembers, readRouteHeaders, withoutServiceParams } from "../chat/read-chat-request.ts";
import { readJsonReply } from "../providers/openai/read-reply.ts";
import { openaiCall } from "../providers/openai/request.ts";
import type { OpenaiOperation } from "../providers/quirks.ts";
import { readServiceParams } from "./service-params.ts";

/** The common parts of operations that forward a JSON body: model, parameters, the call. */
export function readJsonRequest(
  call: GatewayCall,
  ledger: CallLedger,
  operation: OpenaiOperation,
  adapt: (body: Record<string, unknown>) => Record<string, unknown>,
): Omit<CallRequest, "isStream" | "reader"> {
  const { bytes, headers } = call;
  const members = readMembers(bytes);
  const forProvider = adapt(withoutServiceParams(members));
  ledger.request = forProvider;
  if (typeof members["model"] === "string") ledger.model = members["model"];
  const params = readServiceParams(members, call);
  applyParams(ledger, params);
  const model = checkModelName(members);
  checkTokenBounds(forProvider);
  return {
    params,
    model,
    ...readRouteHeaders(headers),
    members: forProvider,
    call: ({ target, quirks }) =>
      openaiCall({ bytes, members, forProvider }, target, { quirks, operation, requestsUsage: false }),
  };
}

/** @throws ServiceError `invalid_request` */
export function checkModelName({ model }: Record<string, unknown>): string {
  if (typeof model === "string" && model !== "" && model.length <= domainLimits.identifierChars) return model;
  throw badMember("model", "must name a model");
}

/** @throws ServiceError `invalid_request` */
export function checkStreamFlag({ stream }: Record<string, unknown>): void {
  if (stream !== undefined && stream !== null && typeof stream !== "boolean")
    throw badMember("stream", "must be true or false");
}

/** Returns a JSON response unchanged, or with the breakdown that was requested. */
export const passJson: AnswerReader["answer"] = (complete, breakdown) =>
  breakdown === undefined
    ? { body: complete.bytes }
    : { body: JSON.stringify({ ...readJsonReply(complete).reply, request_breakdown: breakdown }) };

export function badMember(param: string, message: string): ServiceError {
  return new ServiceError("invalid_request", `${param} ${message}.`, { errors: { [param]: [message] } });
}
