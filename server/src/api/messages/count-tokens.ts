import { z } from "zod";
import type { CallOperation } from "../../gateway/call/operation.ts";
import type { CallRunner } from "../../gateway/call/run-call.ts";
import { endpoint } from "../../http/endpoint.ts";
import { apiLimits } from "../limits.ts";
import { gatewayHeaderParameters, messagesDocs, messagesErrors } from "../gateway-docs.ts";
import { gatewayCall, unreadCall } from "../gateway-call.ts";

const requestBody = z
  .looseObject({ model: z.string(), messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })) })
  .meta({ id: "TokenCountRequest" });
const answer = z.looseObject({ input_tokens: z.int() }).meta({ id: "TokenCount" });

export const countTokens = (deps: { calls: CallRunner; tokenCounts: CallOperation }) =>
  endpoint({
    id: "count_tokens",
    method: "POST",
    path: "/v1/messages/count_tokens",
    aliases: [
      "/messages/count_tokens",
      "/api/messages/count_tokens",
      "/api/v1/messages/count_tokens",
      "/anthropic/v1/messages/count_tokens",
      "/api/anthropic/v1/messages/count_tokens",
    ],
    summary: "Count the tokens of a message",
    description:
      "Relays the request to Anthropic, as `POST /v1/messages` does. It costs nothing, and is recorded as a span of the type " +
      "`custom` without its prompt.",
    tags: ["Gateway"],
    auth: "key",
    permission: "gateway:call",
    parameters: gatewayHeaderParameters,
    dialect: "anthropic",
    body: {
      kind: "raw",
      maxBytes: apiLimits.gatewayBodyBytes,
      documents: requestBody,
      example: { model: "claude-sonnet-4-5", messages: [{ role: "user", content: "Hello" }] },
    },
    success: { status: 200, schema: answer, description: "Anthropic's answer." },
    docs: messagesDocs,
    errors: messagesErrors,
    onBodyRefused: (context, error) => deps.calls.refuse(deps.tokenCounts, unreadCall(context), error),
    async handler(context) {
      await deps.calls.run(deps.tokenCounts, gatewayCall(context));
      return {} as never;
    },
  });
