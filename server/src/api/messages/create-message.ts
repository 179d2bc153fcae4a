import { z } from "zod";
import type { CallOperation } from "../../gateway/call/operation.ts";
import type { CallRunner } from "../../gateway/call/run-call.ts";
import { endpoint } from "../../http/endpoint.ts";
import { apiLimits } from "../limits.ts";
import { eventStream, gatewayHeaderParameters, messagesDocs, messagesErrors } from "../gateway-docs.ts";
import { gatewayCall, unreadCall } from "../gateway-call.ts";

const requestBody = z
  .looseObject({
    model: z.string(),
    max_tokens: z.int(),
    messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
    stream: z.boolean().optional(),
  })
  .meta({ id: "MessageRequest" });
const answer = z
  .looseObject({ id: z.string(), type: z.literal("message"), content: z.array(z.looseObject({})) })
  .meta({ id: "Message" });

export const createMessage = (deps: { calls: CallRunner; messages: CallOperation }) =>
  endpoint({
    id: "create_message",
    method: "POST",
    path: "/v1/messages",
    aliases: ["/messages", "/api/messages", "/api/v1/messages", "/anthropic/v1/messages", "/api/anthropic/v1/messages"],
    summary: "Create a message",
    description:
      "Relays a request of Anthropic's Messages API and its response byte for byte, and records the call as a span. " +
      "The key is sent as `x-api-key` or as `Authorization: Bearer`. Headers and parameters of Anthropic's API are passed on " +
      "unchanged; service parameters are accepted only in the header. Anthropic's errors are passed on with their status; if it did not " +
      "respond, the status is 502, or 504 after a timeout.",
    tags: ["Gateway"],
    auth: "key",
    permission: "gateway:call",
    parameters: gatewayHeaderParameters,
    dialect: "anthropic",
    body: {
      kind: "raw",
      maxBytes: apiLimits.gatewayBodyBytes,
      documents: requestBody,
      example: { model: "claude-sonnet-4-5", max_tokens: 256, messages: [{ role: "user", content: "Hello" }] },
    },
    success: {
      status: 200,
      schema: answer,
      description: "Anthropic's response, or its stream if `stream` is true.",
      alternatives: eventStream,
    },
    docs: messagesDocs,
    errors: messagesErrors,
    onBodyRefused: (context, error) => deps.calls.refuse(deps.messages, unreadCall(context), error),
    async handler(context) {
      await deps.calls.run(deps.messages, gatewayCall(context));
      return {} as never;
    },
  });
