import { z } from "zod";
import type { CallOperation } from "../../gateway/call/operation.ts";
import type { CallRunner } from "../../gateway/call/run-call.ts";
import { endpoint } from "../../http/endpoint.ts";
import { apiLimits } from "../limits.ts";
import {
  gatewayErrorNotes,
  gatewayErrors,
  gatewayHeaders,
  gatewayParameters,
  serviceParamMembers,
} from "../gateway-docs.ts";
import { gatewayCall, unreadCall } from "../gateway-call.ts";

const requestBody = z
  .looseObject({ model: z.string(), input: z.union([z.string(), z.array(z.unknown())]), ...serviceParamMembers })
  .meta({ id: "EmbeddingsRequest" });
const answer = z
  .looseObject({ data: z.array(z.looseObject({})), model: z.string().optional() })
  .meta({ id: "Embeddings" });

export const createEmbeddings = (deps: { calls: CallRunner; embeddings: CallOperation }) =>
  endpoint({
    id: "create_embeddings",
    method: "POST",
    path: "/api/embeddings",
    aliases: ["/v1/embeddings", "/embeddings", "/api/v1/embeddings"],
    summary: "Create embeddings",
    description:
      "Sends texts to the provider of an embedding model, and records the call as a span without the vectors.",
    tags: ["Gateway"],
    auth: "key",
    permission: "gateway:call",
    parameters: gatewayParameters,
    dialect: "openai",
    body: {
      kind: "raw",
      maxBytes: apiLimits.gatewayBodyBytes,
      documents: requestBody,
      example: { model: "text-embedding-3-small", input: ["Canberra", "Sydney"] },
    },
    success: { status: 200, schema: answer, description: "The provider's answer." },
    docs: { headers: gatewayHeaders, errorNotes: gatewayErrorNotes },
    errors: gatewayErrors,
    onBodyRefused: (context, error) => deps.calls.refuse(deps.embeddings, unreadCall(context), error),
    async handler(context) {
      await deps.calls.run(deps.embeddings, gatewayCall(context));
      return {} as never;
    },
  });
