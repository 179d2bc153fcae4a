import { z } from "zod";
import type { ModelLister } from "../../gateway/models/list-reachable.ts";
import { betasOf } from "../../gateway/chat/read-chat-request.ts";
import { endpoint } from "../../http/endpoint.ts";
import { modelSchema, presentModel } from "./schemas.ts";

export const listModels = (deps: { models: Pick<ModelLister, "list"> }) =>
  endpoint({
    id: "list_models",
    method: "GET",
    path: "/api/models",
    aliases: ["/v1/models", "/models"],
    summary: "List the models that can be called",
    description:
      "Models of the providers with a credential, from the catalogue and from provider settings, and `spanway/echo`. A provider may have more than the catalogue knows: any of its names may be called as `provider/name`.",
    tags: ["Gateway"],
    auth: "key",
    dialect: "openai",
    success: { status: 200, schema: z.object({ object: z.literal("list"), data: z.array(modelSchema) }) },
    errors: ["unavailable"],
    handler: async (context) => {
      const models = await deps.models.list(context.principal, betasOf(context.headers));
      return { object: "list" as const, data: models.map(presentModel) };
    },
  });
