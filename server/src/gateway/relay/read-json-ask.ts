import { ServiceError } from "../../domain/errors.ts";
import { isObject, parseJson } from "../../lib/json.ts";
import { limits } from "../../limits.ts";
import { takeParams, type CallLedger } from "../call-ledger.ts";
import type { ChatCall } from "../chat.ts";
import { checkTokenBounds } from "../estimate/read-token-bounds.ts";
import { readErrorWithin } from "../providers/openai/problem.ts";
import { openaiCall } from "../providers/openai/request.ts";
import { BadReply, type UpstreamProblem } from "../providers/provider.ts";
import type { OpenaiOperation } from "../providers/quirks.ts";
import { readMembers, readRouteHeaders, withoutServiceParams } from "../read-chat-request.ts";
import { readServiceParams } from "../service-params.ts";
import type { RelayAnswer, RelayAsk } from "./relay.ts";
import type { WholeReply } from "./whole-exchange.ts";

/** What all operations with a JSON body have in common: model, parameters, the call, and the answer as it came. */
export function readJsonAsk(
  caller: ChatCall,
  ledger: CallLedger,
  operation: OpenaiOperation,
  change: (asked: Record<string, unknown>) => Record<string, unknown> = (asked) => asked,
): Omit<RelayAsk, "read" | "stream"> {
  const { bytes, headers } = caller;
  const members = readMembers(bytes);
  const forProvider = change(withoutServiceParams(members));
  const { model } = members;
  if (typeof model === "string") ledger.model = model;
  const params = readServiceParams(members, caller);
  takeParams(ledger, params);
  if (typeof model !== "string" || model === "" || model.length > limits.identifierChars) {
    throw badMember("model", "must name a model");
  }
  checkTokenBounds(forProvider);
  return {
    params,
    model,
    ...readRouteHeaders(headers),
    asked: forProvider,
    call: ({ target, quirks }) =>
      openaiCall({ bytes, members, forProvider }, target, { quirks, operation, asksUsage: false }),
    answer: answerOf,
  };
}

/** The object that a reply is; the problem that it tells of instead. @throws BadReply */
export function readJsonReply({ bytes }: WholeReply): { reply: Record<string, unknown>; problem?: UpstreamProblem } {
  const parsed = parseJson(bytes);
  if (!parsed.ok || !isObject(parsed.value)) throw new BadReply("The provider's answer is not a JSON object.");
  const problem = readErrorWithin(parsed.value);
  return { reply: parsed.value, ...(problem && { problem }) };
}

export function badMember(param: string, message: string): ServiceError {
  return new ServiceError("invalid_request", `${param} ${message}.`, { errors: { [param]: [message] } });
}

function answerOf(whole: WholeReply, breakdown: Record<string, unknown> | undefined): RelayAnswer {
  if (breakdown === undefined) return { body: whole.bytes, headers: {} };
  return { body: JSON.stringify({ ...readJsonReply(whole).reply, request_breakdown: breakdown }), headers: {} };
}
