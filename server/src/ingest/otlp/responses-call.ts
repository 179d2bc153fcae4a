import { isObject } from "../../lib/json.ts";
import { asText } from "./attribute-bag.ts";
import type { SpanView } from "./convention.ts";

/** Keys with a value that identifies a call of OpenAI's Responses API. */
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

/** Keys of the raw request in instrumentations: all that there is for a failed call. */
const requests = ["input.value", "gen_ai.prompt", "langfuse.observation.input", "mlflow.spanInputs"];

/** Keys of the raw response in instrumentations. */
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

/** Whether a model call used the Responses API, by any sign in its attributes. */
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

/** Requests of the chat API have `messages`. Those of embeddings have `input` too, but keep their own log type. */
function isRequest(given: unknown): boolean {
  if (!isObject(given) || typeof given["model"] !== "string") return false;
  return given["input"] !== undefined && given["messages"] === undefined && given["prompt"] === undefined;
}
