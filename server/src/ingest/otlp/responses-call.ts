import { isObject } from "../../lib/json.ts";
import { asText } from "./attribute-bag.ts";
import type { SpanView } from "./convention.ts";

/** Keys of which one value says that it was OpenAI's Responses API that was called, with that value. */
const signs: ReadonlyArray<readonly [key: string, value: RegExp]> = [
  ["openai.api.type", /^responses$/],
  ["gen_ai.response.id", /^resp_/],
  ["ai.response.id", /^resp_/],
  ["gen_ai.system", /\.responses$/],
  ["llm.request.type", /^a?responses?$/],
  ["traceloop.entity.name", /^(?:openai\.)?responses?$/],
  ["langfuse.observation.metadata.object", /^"?response"?$/],
  ["langsmith.metadata.ls_invocation_params", /"use_responses_api"\s*:\s*true/],
  ["logfire.msg_template", /^Responses API /],
];

/** Where instrumentations keep the request as it went: all that there is of a call that failed. */
const requests = ["input.value", "gen_ai.prompt", "langfuse.observation.input", "mlflow.spanInputs"];

/** Where instrumentations keep the answer as it came. */
const answers = [
  "output.value",
  "gen_ai.completion",
  "langfuse.observation.output",
  "response_data",
  "mlflow.spanOutputs",
  "traceloop.entity.output",
];
const answerForm =
  /"object"\s*:\s*"response"|"id"\s*:\s*"resp_|"type"\s*:\s*"(?:output_text|summary_text|function_call)"/;

/** Whether a model call went to the Responses API, by whatever its SDK tells of it. */
export function isResponsesCall({ bag, span, scopeName }: Pick<SpanView, "bag" | "span" | "scopeName">): boolean {
  if (/^(?:openai\.responses?(?:\.|$)|responses api\b)/i.test(span.name)) return true;
  if (/openai/.test(scopeName) && /^responses?$/i.test(span.name)) return true;
  if (signs.some(([key, value]) => value.test(bag.peekText(key) ?? ""))) return true;
  if (requests.some((key) => isRequest(bag.peekTree(key)))) return true;
  return answers.some((key) => {
    const given = bag.peek(key);
    const text = asText(given) ?? (given === undefined ? "" : JSON.stringify(given));
    return answerForm.test(text);
  });
}

/** The chat API has `messages`, and of embeddings it is known that they are. */
function isRequest(given: unknown): boolean {
  if (!isObject(given) || typeof given["model"] !== "string") return false;
  return given["input"] !== undefined && given["messages"] === undefined && given["prompt"] === undefined;
}
