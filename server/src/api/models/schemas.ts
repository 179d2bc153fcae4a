import { z } from "zod";
import type { ReachableModel } from "../../gateway/models/list-reachable.ts";

export const modelSchema = z.object({
  id: z.string().meta({ description: "The value for `model`: the provider and its name of the model." }),
  object: z.literal("model"),
  created: z.int().meta({ description: "Always 0, because it is unknown." }),
  owned_by: z.string().meta({ description: "The provider." }),
});

/** In OpenAI's shape. Its `created` is unknown here. */
export function presentModel({ id, provider }: ReachableModel): z.input<typeof modelSchema> {
  return { id, object: "model", created: 0, owned_by: provider };
}
