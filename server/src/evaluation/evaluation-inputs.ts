import type { SpanColumn } from "../domain/span.ts";
import { isObject, parseJsonText } from "../lib/json.ts";
import type { StoredSpan } from "../storage/spans/span-store.ts";

/**
 * The inputs of an evaluator for a log. `input` and `output` are text, or the JSON text of other content. `llm_input`
 * and `llm_output` are older names of the two.
 */
export type EvaluationInputs = {
  input: string;
  output: string;
  expected_output: string;
  metadata: Record<string, unknown>;
  metrics: Record<string, unknown>;
  llm_input: string;
  llm_output: string;
};

export const inputNames = [
  "input",
  "output",
  "expected_output",
  "metadata",
  "metrics",
  "llm_input",
  "llm_output",
] as const satisfies readonly (keyof EvaluationInputs)[];

/** Inputs whose members may have any name. */
export const freeInputs = ["metadata", "metrics"] as const satisfies readonly (keyof EvaluationInputs)[];

const metricColumns = [
  "model",
  "log_type",
  "status",
  "status_code",
  "error_message",
  "latency",
  "time_to_first_token",
  "tokens_per_second",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "cost",
] as const satisfies readonly SpanColumn[];

/** The columns of a log that have to be read. */
export const inputColumns: readonly SpanColumn[] = [
  ...metricColumns,
  "log_method",
  "input",
  "output",
  "prompt_messages",
  "completion_message",
  "completion_messages",
  "metadata",
  "extra",
];

export function inputsOf(span: StoredSpan): EvaluationInputs {
  const { metadata, extra } = span;
  const ideal = objectOf(extra)["ideal_output"];
  return completeInputs({
    input: span.input || span.prompt_messages || "",
    output: span.output || spokenText(span.completion_message) || span.completion_messages || "",
    expected_output: textOf(ideal),
    metadata: objectOf(metadata),
    metrics: Object.fromEntries(metricColumns.map((column) => [column, span[column] ?? null])),
  });
}

/** Inputs from a request that tries an evaluator. */
export function completeInputs(given: Record<string, unknown>): EvaluationInputs {
  const input = textOf(given["input"] ?? given["llm_input"]);
  const output = textOf(given["output"] ?? given["llm_output"]);
  return {
    input,
    output,
    expected_output: textOf(given["expected_output"]),
    metadata: isObject(given["metadata"]) ? given["metadata"] : {},
    metrics: isObject(given["metrics"]) ? given["metrics"] : {},
    llm_input: input,
    llm_output: output,
  };
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** The text of a message, or the whole message if it contains more than text. */
function spokenText(message = ""): string {
  const { content, tool_calls: calls } = objectOf(message);
  return typeof content === "string" && content !== "" && calls === undefined ? content : message;
}

function objectOf(json = ""): Record<string, unknown> {
  const parsed = json === "" ? undefined : parseJsonText(json);
  return parsed?.ok === true && isObject(parsed.value) ? parsed.value : {};
}
