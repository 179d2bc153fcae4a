import { isObject } from "../../../lib/json.ts";
import type { Convention, SpanContent } from "../convention.ts";
import { holdsMessages, toMessages } from "../messages/message.ts";
import { toolsOf } from "../messages/tool-calls.ts";

/** MLflow writes every value as JSON text. */
export const mlflow: Convention = {
  name: "mlflow",
  applies: ({ bag }) => bag.hasFamily("mlflow"),
  fields: {
    customer_identifier: ["mlflow.trace.user"],
    thread_identifier: ["mlflow.trace.session"],
    model: ["mlflow.llm.model"],
  },
  usage({ bag }) {
    const usage = bag.takeTree("mlflow.chat.tokenUsage");
    const count = (name: string): number | undefined =>
      isObject(usage) && typeof usage[name] === "number" ? usage[name] : undefined;
    return { input: count("input_tokens"), output: count("output_tokens"), total: count("total_tokens") };
  },
  content({ bag }): SpanContent {
    const input = bag.takeTree("mlflow.spanInputs");
    const output = bag.takeTree("mlflow.spanOutputs");
    const messages = isObject(input) ? input["messages"] : input;
    const choices = isObject(output) ? output["choices"] : undefined;
    const answers = Array.isArray(choices)
      ? (choices as unknown[]).map((choice) => (isObject(choice) ? choice["message"] : undefined))
      : undefined;
    return {
      prompt: holdsMessages(messages) ? toMessages(messages, "user") : undefined,
      input: holdsMessages(messages) ? undefined : input,
      completions: answers === undefined ? undefined : toMessages(answers, "assistant"),
      output: answers === undefined ? output : undefined,
      tools: toolsOf(bag.takeTree("mlflow.chat.tools")),
    };
  },
};
