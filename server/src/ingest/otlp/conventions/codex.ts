import type { Convention } from "../convention.ts";

const turn = (name: string): string[] => [`codex.turn.token_usage.${name}`, name];

/** The Codex command line. A turn has the sum of its requests, which repeat the counts. */
export const codex: Convention = {
  name: "codex",
  applies: ({ bag, scopeName }) => scopeName.startsWith("codex") || bag.hasFamily("codex"),
  fields: {
    model: ["model", "slug"],
    thread_identifier: ["conversation.id", "thread.id"],
    customer_email: ["user.email"],
  },
  derive: ({ span }) => ({ provider_id: span.attributes.has("model") ? "openai" : undefined }),
  usage: {
    input: turn("input_tokens"),
    output: turn("output_tokens"),
    total: turn("total_tokens"),
    cacheRead: turn("cached_input_tokens"),
    reasoning: turn("reasoning_output_tokens"),
  },
};
