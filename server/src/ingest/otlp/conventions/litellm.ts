import { isObject } from "../../../lib/json.ts";
import { readUsageMembers } from "../../../pricing/usage-object.ts";
import type { Convention } from "../convention.ts";
import { takeIndexed } from "../indexed-keys.ts";
import { containsMessages, toMessages } from "../../../messages/message.ts";
import { jsonOfPython } from "../python-text.ts";

/** The usage of the response, as Python prints it: the only place with the parts of the counts. */
const usageKey = "metadata.usage_object";

const providers = ["openai", "anthropic", "azure", "vertex_ai", "gemini", "bedrock"];

/** LiteLLM: raw requests as `llm.<provider>.<parameter>`, and old releases that wrote the names of constants. */
export const litellm: Convention = {
  name: "litellm",
  applies: ({ bag, scopeName }) => scopeName === "litellm" || bag.hasFamily("SpanAttributes", "metadata"),
  fields: {
    model: providers.map((provider) => `llm.${provider}.model`),
    customer_identifier: ["metadata.user_api_key_end_user_id", "metadata.user_api_key_user_id"],
  },
  usage({ bag }) {
    const printed = bag.parsed(jsonOfPython(bag.peekText(usageKey) ?? ""));
    const usage = isObject(printed) ? readUsageMembers(printed) : {};
    if (usage.total !== undefined) bag.accept(usageKey);
    return usage;
  },
  cost: ["gen_ai.cost.total_cost"],
  content({ bag }) {
    // Python prints lists in its own syntax, which is not JSON: those are left in place.
    const raw = providers
      .map((provider) => `llm.${provider}.messages`)
      .filter((key) => containsMessages(bag.peekTree(key)));
    return {
      prompt: [
        ...takeIndexed(bag, "SpanAttributes.LLM_PROMPTS").flatMap((item) =>
          toMessages(Object.fromEntries(item), "user"),
        ),
        ...raw.flatMap((key) => toMessages(bag.takeTree(key), "user")),
      ],
      completions: takeIndexed(bag, "SpanAttributes.LLM_COMPLETIONS").flatMap((item) =>
        toMessages(Object.fromEntries(item), "assistant"),
      ),
    };
  },
};
