import type { Convention } from "../convention.ts";

/** The Claude API and its SDKs: GenAI attributes, and some of their own. */
export const anthropic: Convention = {
  name: "anthropic",
  applies: ({ bag }) => bag.hasFamily("anthropic"),
  fields: { thread_identifier: ["anthropic.session.id"] },
  usage: {
    cacheWrite5m: ["anthropic.usage.cache_creation.ephemeral_5m_input_tokens"],
    cacheWrite1h: ["anthropic.usage.cache_creation.ephemeral_1h_input_tokens"],
  },
  content: ({ bag }) => ({ output: bag.takeAny("anthropic.tool_result.content") }),
};
