import { z } from "zod";
import type { CallOperation } from "../../gateway/call/operation.ts";
import type { CallRunner } from "../../gateway/call/run-call.ts";
import { endpoint } from "../../http/endpoint.ts";
import { apiLimits } from "../limits.ts";
import {
  eventStream,
  gatewayErrorNotes,
  gatewayErrors,
  gatewayHeaders,
  gatewayParameters,
  serviceParamMembers,
} from "../gateway-docs.ts";
import { gatewayCall, unreadCall } from "../gateway-call.ts";

const requestBody = z
  .looseObject({
    model: z.string(),
    input: z.union([z.string(), z.array(z.unknown())]).optional(),
    stream: z.boolean().optional(),
    ...serviceParamMembers,
  })
  .meta({ id: "ResponseRequest" });
const answer = z.looseObject({ id: z.string(), output: z.array(z.looseObject({})) }).meta({ id: "Response" });

export const createResponse = (deps: { calls: CallRunner; responses: CallOperation }) =>
  endpoint({
    id: "create_response",
    method: "POST",
    path: "/api/responses",
    aliases: ["/v1/responses", "/responses", "/api/v1/responses"],
    summary: "Create a response",
    description:
      "Relays a request of OpenAI's Responses API to a provider that supports it, and records the call as a span. A stream ends with the provider's last event; a requested breakdown is one more event.",
    tags: ["Gateway"],
    auth: "key",
    permission: "gateway:call",
    parameters: gatewayParameters,
    dialect: "openai",
    body: {
      kind: "raw",
      maxBytes: apiLimits.gatewayBodyBytes,
      documents: requestBody,
      example: { model: "gpt-4o-mini", input: "Which city is the capital of Australia?" },
    },
    success: {
      status: 200,
      schema: answer,
      description: "The provider's response, or its stream if `stream` is true.",
      alternatives: eventStream,
    },
    docs: { headers: gatewayHeaders, errorNotes: gatewayErrorNotes },
    errors: gatewayErrors,
    onBodyRefused: (context, error) => deps.calls.refuse(deps.responses, unreadCall(context), error),
    async handler(context) {
      await deps.calls.run(deps.responses, gatewayCall(context));
      return {} as never;
    },
  });
