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
];

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
  return answers.some((key) => {
    const given = bag.peek(key);
    const text = asText(given) ?? (given === undefined ? "" : JSON.stringify(given));
    return answerForm.test(text);
  });
}
