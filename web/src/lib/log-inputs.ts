import { isRecord } from "./exact-json.ts";

const metricNames =
  "model log_type status status_code error_message latency time_to_first_token tokens_per_second prompt_tokens completion_tokens total_tokens cost".split(
    " ",
  );

/** The fields of a log that `inputsOf` needs. */
export const logInputFields = [
  "input,output,prompt_messages,completion_message,completion_messages,ideal_output,metadata",
  ...metricNames,
].join(",");

/** A log as input of an evaluator: its texts if there are any, otherwise its messages. */
export function inputsOf(log: Readonly<Record<string, unknown>>) {
  return {
    input: firstValue(log["input"], log["prompt_messages"]),
    output: firstValue(log["output"], spokenText(log["completion_message"]), log["completion_messages"]),
    expected_output: firstValue(log["ideal_output"]),
    metadata: isRecord(log["metadata"]) ? log["metadata"] : {},
    metrics: Object.fromEntries(metricNames.map((name) => [name, log[name] ?? null])),
  };
}

function firstValue(...values: readonly unknown[]): string {
  const value = values.find((value) => value !== undefined && value !== null && value !== "");
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

/** The text of a message; the whole message if it contains more than text. */
function spokenText(message: unknown): unknown {
  if (!isRecord(message)) return message;
  const { content, tool_calls: calls } = message;
  const isOnlyWords = typeof content === "string" && content !== "" && (calls === undefined || calls === null);
  return isOnlyWords ? content : message;
}
