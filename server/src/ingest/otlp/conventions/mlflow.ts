import { isObject } from "../../../lib/json.ts";
import type { Convention, SpanContent } from "../convention.ts";
import type { Attributes } from "../export-request.ts";
import { wordIn } from "../../../messages/json-word.ts";
import { readRequest } from "../../../messages/request.ts";
import { readResponse } from "../../../messages/response.ts";
import { toolsOf } from "../../../messages/tool-calls.ts";
import { consumeParameters, readCall, takeCall } from "../read-parameters.ts";

/** MLflow. Its values are JSON text, objects and single words alike. */
export const mlflow: Convention = {
  name: "mlflow",
  applies: ({ bag }) => bag.hasFamily("mlflow"),
  fields: {
    customer_identifier: ["mlflow.trace.user"],
    thread_identifier: ["mlflow.trace.session"],
    model: ["mlflow.llm.model"],
    provider_id: ["mlflow.llm.provider"],
  },
  derive({ bag }) {
    const cost = bag.peekTree("mlflow.llm.cost");
    const total = isObject(cost) ? cost["total_cost"] : undefined;
    if (typeof total === "number") bag.drop("mlflow.llm.cost");
    const isCall = /^"?(?:LLM|CHAT_MODEL|EMBEDDING)"?$/i.test(bag.peekText("mlflow.spanType") ?? "");
    if (!isCall) return { cost: total };
    const { model } = readCall(bag.peekTree("invocation_params"));
    return {
      ...(model !== undefined && { model }),
      ...consumeParameters(bag, "invocation_params"),
      ...readCall(bag.peekTree("mlflow.spanInputs")),
      ...takeCall(bag),
      cost: total,
    };
  },
  usage({ bag }) {
    const usage = bag.takeTree("mlflow.chat.tokenUsage");
    const count = (name: string): number | undefined =>
      isObject(usage) && typeof usage[name] === "number" ? usage[name] : undefined;
    return {
      input: count("input_tokens"),
      output: count("output_tokens"),
      total: count("total_tokens"),
      cacheRead: count("cache_read_input_tokens"),
      cacheWrite: count("cache_creation_input_tokens"),
    };
  },
  metadataPrefixes: ["mlflow.traceTag."],
  content({ bag }): SpanContent {
    const input = bag.takeTree("mlflow.spanInputs");
    const output = bag.takeTree("mlflow.spanOutputs");
    const request = readRequest(input);
    const completions = readResponse(output);
    return {
      prompt: request?.prompt,
      input: request ? undefined : input,
      completions,
      output: completions ? undefined : output,
      tools: toolsOf(bag.takeTree("mlflow.chat.tools")) ?? request?.tools,
    };
  },
};

/** The attributes of a span; for MLflow, without the JSON quotes around single words. */
export function unquoted(attributes: Attributes): Attributes {
  const type = attributes.get("mlflow.spanType") ?? attributes.get("mlflow.traceRequestId");
  if (typeof type !== "string" || !type.startsWith('"')) return attributes;
  return new Map([...attributes].map(([key, value]) => [key, typeof value === "string" ? wordIn(value) : value]));
}
