import { isObject } from "../../../lib/json.ts";
import type { Convention } from "../convention.ts";
import { readParameters } from "../read-parameters.ts";

const metadata = "langchain.metadata";

/** What the product's LangChain integration adds to the conventions of OpenLLMetry. */
export const langchain: Convention = {
  name: "langchain",
  applies: ({ bag }) => bag.hasFamily("langchain"),
  derive({ bag }) {
    const given = bag.peekTree(metadata);
    if (!isObject(given)) return {};
    return {
      provider_id: given["ls_provider"],
      model: given["ls_model_name"],
      customer_identifier: given["user_id"],
      thread_identifier: given["thread_id"] ?? given["session_id"],
      ...readParameters({ temperature: given["ls_temperature"], max_tokens: given["ls_max_tokens"] }),
    };
  },
  metadataObjects: [metadata],
};
