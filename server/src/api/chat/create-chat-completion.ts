import type { CallOperation } from "../../gateway/call/operation.ts";
import type { CallRunner } from "../../gateway/call/run-call.ts";
import { endpoint } from "../../http/endpoint.ts";
import { apiLimits } from "../limits.ts";
import { eventStream, gatewayErrorNotes, gatewayErrors, gatewayHeaders, gatewayParameters } from "../gateway-docs.ts";
import { gatewayCall, unreadCall } from "../gateway-call.ts";
import { chatBody, chatCompletion } from "./schemas.ts";

export const createChatCompletion = (deps: { calls: CallRunner; chat: CallOperation }) =>
  endpoint({
    id: "create_chat_completion",
    method: "POST",
    path: "/api/chat/completions",
    aliases: ["/v1/chat/completions", "/chat/completions", "/api/v1/chat/completions"],
    summary: "Create a chat completion",
    description:
      "Sends a chat to the provider of its model, in OpenAI's format whatever the provider, and records it as a span: " +
      "`x-spanway-log-id` names it. All of OpenAI's parameters are accepted. Service parameters are in the body, in " +
      "`svc_params`, or in the header `X-Data-Svc-Params` as a JSON object in base64. `spanway/echo` responds without any " +
      "provider.",
    tags: ["Gateway"],
    auth: "key",
    permission: "gateway:call",
    parameters: gatewayParameters,
    dialect: "openai",
    body: {
      kind: "raw",
      maxBytes: apiLimits.gatewayBodyBytes,
      documents: chatBody,
      example: { model: "spanway/echo", messages: [{ role: "user", content: "Hello" }], customer_identifier: "acme" },
    },
    success: {
      status: 200,
      schema: chatCompletion,
      description: "A completion, or a stream of chunks if `stream` is true.",
      alternatives: eventStream,
    },
    docs: { headers: gatewayHeaders, errorNotes: gatewayErrorNotes },
    errors: gatewayErrors,
    onBodyRefused: (context, error) => deps.calls.refuse(deps.chat, unreadCall(context), error),
    async handler(context) {
      await deps.calls.run(deps.chat, gatewayCall(context));
      return {} as never;
    },
  });
