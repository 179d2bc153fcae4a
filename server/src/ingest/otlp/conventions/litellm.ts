import type { Convention } from "../convention.ts";
import { takeIndexed } from "../indexed-keys.ts";
import { toMessages } from "../messages/message.ts";

const providers = ["openai", "anthropic", "azure", "vertex_ai", "gemini", "bedrock"];

/** LiteLLM: raw requests as `llm.<provider>.<parameter>`, and old releases that wrote the names of constants. */
export const litellm: Convention = {
  name: "litellm",
  applies: ({ bag, scopeName }) => scopeName === "litellm" || bag.hasFamily("SpanAttributes", "metadata"),
  fields: {
    model: providers.map((provider) => `llm.${provider}.model`),
    customer_identifier: ["metadata.user_api_key_end_user_id", "metadata.user_api_key_user_id"],
  },
  content({ bag }) {
    const raw = providers.map((provider) => bag.takeTree(`llm.${provider}.messages`));
    return {
      prompt: [
        ...takeIndexed(bag, "SpanAttributes.LLM_PROMPTS").flatMap((item) =>
          toMessages(Object.fromEntries(item), "user"),
        ),
        ...raw.flatMap((messages) => toMessages(messages, "user")),
      ],
      completions: takeIndexed(bag, "SpanAttributes.LLM_COMPLETIONS").flatMap((item) =>
        toMessages(Object.fromEntries(item), "assistant"),
      ),
    };
  },
};
