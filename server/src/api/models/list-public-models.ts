import { z } from "zod";
import type { KnownModel, ModelLister } from "../../gateway/models/list-reachable.ts";
import { endpoint } from "../../http/endpoint.ts";
import { rawJson } from "../../http/reply.ts";

const publicModelSchema = z.object({
  model_name: z.string(),
  max_context_window: z.int().nullable(),
  input_cost: z.number().nullable().meta({ description: "USD per million tokens; null if unknown." }),
  cache_read_cost: z.number().nullable(),
  cache_write_cost: z
    .number()
    .nullable()
    .meta({ description: "Writes to a cache of 5 minutes, if prices depend on its lifetime." }),
  output_cost: z.number().nullable(),
  provider: z.object({ provider_name: z.string(), provider_id: z.string() }),
});

export const listPublicModels = (deps: { models: Pick<ModelLister, "known"> }) => {
  // Unchanged until the next start, and 500 kB: serialized once.
  let text: string | undefined;
  return endpoint({
    id: "list_public_models",
    method: "GET",
    path: "/api/models/public",
    summary: "List the catalogue of models",
    description: "Models that Spanway knows with their prices, regardless of credentials. Needs no credential.",
    tags: ["Gateway"],
    auth: "none",
    dialect: "openai",
    success: { status: 200, schema: z.object({ models: z.array(publicModelSchema) }) },
    errors: [],
    handler: () => {
      text ??= JSON.stringify({ models: deps.models.known().map(present) });
      return rawJson(text);
    },
  });
};

function present({ id, provider, ...known }: KnownModel): z.input<typeof publicModelSchema> {
  return {
    model_name: id,
    max_context_window: known.contextWindow ?? null,
    input_cost: known.inputUsd ?? null,
    cache_read_cost: known.cacheReadUsd ?? null,
    cache_write_cost: known.cacheWriteUsd ?? null,
    output_cost: known.outputUsd ?? null,
    provider: { provider_name: provider, provider_id: provider },
  };
}
