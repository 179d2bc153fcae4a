import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import type { ModelLister } from "../../gateway/models/list-reachable.ts";
import { betasOf } from "../../gateway/chat/read-chat-request.ts";
import { endpoint } from "../../http/endpoint.ts";
import { modelSchema, presentModel } from "./schemas.ts";

/** Names contain slashes, and not every client escapes them: `fireworks/accounts/fireworks/models/name`. */
const segments = ["{id}", "{id}/{b}", "{id}/{b}/{c}", "{id}/{b}/{c}/{d}", "{id}/{b}/{c}/{d}/{e}"];

export const retrieveModel = (deps: { models: Pick<ModelLister, "list"> }) =>
  endpoint({
    id: "retrieve_model",
    method: "GET",
    path: "/api/models/{id}",
    aliases: ["/api/models", "/v1/models", "/models"]
      .flatMap((root) => segments.map((rest) => `${root}/${rest}`))
      .filter((path) => path !== "/api/models/{id}"),
    summary: "Retrieve a model",
    description: "By the id in the list, or by the provider's name of the model.",
    tags: ["Gateway"],
    auth: "key",
    dialect: "openai",
    params: z.object({
      id: z.string(),
      b: z.string().optional(),
      c: z.string().optional(),
      d: z.string().optional(),
      e: z.string().optional(),
    }),
    success: { status: 200, schema: modelSchema },
    errors: ["not_found", "unavailable"],
    handler: async (context) => {
      const { id, b, c, d, e } = context.params;
      const name = [id, b, c, d, e].filter((segment) => segment !== undefined).join("/");
      const models = await deps.models.list(context.principal, betasOf(context.headers));
      const found =
        models.find((model) => model.id === name) ?? models.find((model) => model.id === `${model.provider}/${name}`);
      if (found === undefined) throw new ServiceError("not_found", "There is no such model for this key.");
      return presentModel(found);
    },
  });
