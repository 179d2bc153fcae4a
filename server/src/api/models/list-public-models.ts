import { z } from "zod";
import type { KnownModel, ModelLister } from "../../gateway/models/list-reachable.ts";
import { endpoint } from "../../http/endpoint.ts";
import { rawJson } from "../../http/reply.ts";

const publicModelSchema = z.object({
  model_name: z.string(),
  max_context_window: z.int().nullable(),
  input_cost: z.number().nullable().meta({
    description:
      "USD per million tokens, now and below the first threshold of the prompt's length; 0 if free, null if unknown.",
  }),
  cache_read_cost: z.number().nullable(),
  cache_write_cost: z
    .number()
    .nullable()
    .meta({ description: "Writes to a cache of 5 minutes, if prices depend on its lifetime." }),
  output_cost: z.number().nullable(),
  cost_varies: z
    .boolean()
    .meta({ description: "Whether a long prompt, or a call at another hour of the day, has another price." }),
  provider: z.object({ provider_name: z.string(), provider_id: z.string() }),
});

const minuteMs = 60_000;

export const listPublicModels = (deps: { models: Pick<ModelLister, "known">; now: () => number }) => {
  // 500 kB: serialized once a minute. Prices change with the date and the hour.
  let text = "";
  let minute = 0;
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
      const now = deps.now();
      if (Math.floor(now / minuteMs) !== minute) {
        minute = Math.floor(now / minuteMs);
        text = JSON.stringify({ models: deps.models.known(now).map(present) });
      }
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
    cost_varies: known.isVariable,
    provider: { provider_name: provider, provider_id: provider },
  };
}
