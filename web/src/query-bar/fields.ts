/** The fields of spans by their names in queries and in the API (docs/filter-language.md). */

/** `dynamic`: metadata and scores, whose values are texts or numbers. */
export type FieldKind = "text" | "dynamic" | "number" | "boolean" | "time";

export type Unit = "seconds" | "usd" | "count";

export type QueryField = {
  /** The API's name. */
  name: string;
  /** The name in queries. */
  word: string;
  kind: FieldKind;
  help: string;
  unit?: Unit;
  /** `:` matches a part of the text, ignoring case: nobody types all of it. */
  isSearched?: true;
  /** The facets route lists its values. */
  hasFacet?: true;
  /** All possible values. */
  choices?: readonly string[];
  /** Alternative names of its values, in lower case. */
  valueWords?: Readonly<Record<string, string>>;
};

type Extras = Omit<QueryField, "name" | "word" | "kind" | "help">;

const field =
  (kind: FieldKind, extras: Extras = {}) =>
  (word: string, name: string, help: string, more: Extras = {}): QueryField => ({
    name,
    word,
    kind,
    help,
    ...extras,
    ...more,
  });
const text = field("text");
const facet = field("text", { hasFacet: true });
const searched = field("text", { isSearched: true });
const number = field("number");
const seconds = field("number", { unit: "seconds" });
const count = field("number", { unit: "count" });
const flag = field("boolean", { choices: ["true", "false"] });
const time = field("time");

/** In the order of suggestions. */
export const queryFields: readonly QueryField[] = [
  facet("model", "model", "Model that answered"),
  facet("status", "status", "success or error", {
    choices: ["success", "error"],
    valueWords: { error: "failed", failure: "failed", ok: "success", succeeded: "success" },
  }),
  number("cost", "cost", "Cost in dollars", { unit: "usd" }),
  seconds("latency", "latency", "Duration, such as 2s or 150ms"),
  facet("customer", "customer_identifier", "Customer id"),
  facet("name", "span_name", "Span name"),
  facet("type", "log_type", "Kind of span: chat, tool, agent …"),
  facet("provider", "provider_id", "Provider"),
  count("tokens", "total_tokens", "All tokens, such as 10k"),
  searched("error", "error_message", "Text of the error"),
  searched("messages", "messages", "Text of input or output"),
  searched("text", "any_text", "Words in input, output, error or name"),
  searched("input", "input", "Text of the input"),
  searched("output", "output", "Text of the output"),
  field("dynamic", { isSearched: true })("new", "new_messages", "Text that is new in this turn"),
  text("thread", "thread_identifier", "Thread id"),
  text("trace", "trace_unique_id", "Trace id"),
  facet("session", "session_identifier", "Session id"),
  flag("failed", "failed", "Failed, or status code 400 and above"),
  number("code", "status_code", "HTTP status code", { hasFacet: true }),
  seconds("ttft", "time_to_first_token", "Time to the first token"),
  number("tps", "tokens_per_second", "Tokens per second"),
  count("input_tokens", "prompt_tokens", "Input tokens"),
  count("output_tokens", "completion_tokens", "Output tokens"),
  count("cached_tokens", "prompt_cache_hit_tokens", "Input tokens read from a cache"),
  count("cache_write_tokens", "prompt_cache_creation_tokens", "Input tokens written to a cache"),
  count("reasoning_tokens", "reasoning_tokens", "Reasoning tokens"),
  flag("feedback", "positive_feedback", "Thumb up (true) or down (false)"),
  flag("pinned", "is_pinned", "Pinned"),
  searched("note", "note", "Text of the note"),
  field("dynamic")("scored_by", "evaluator_id", "Evaluator that scored it"),
  flag("root", "is_root_span", "First span of its trace"),
  flag("stream", "stream", "Streamed answer"),
  flag("cached", "cache_hit", "Answered from the cache"),
  flag("tools", "has_tool_calls", "Calls tools"),
  time("started", "start_time", "Start, such as 2026-11-29T10:00Z"),
  time("ended", "timestamp", "End, such as 2026-11-29T10:00Z"),
  text("unpriced", "unpriced", "What has no price"),
  text("id", "unique_id", "Span id"),
  text("span", "span_unique_id", "Span id of the sender"),
  text("parent", "span_parent_id", "Parent span id of the sender"),
  facet("workflow", "span_workflow_name", "Workflow"),
  text("trace_group", "trace_group_identifier", "Trace group"),
  facet("prompt", "prompt_id", "Prompt id"),
  text("prompt_name", "prompt_name", "Prompt name"),
  facet("deployment", "deployment_name", "Deployment"),
  facet("deployment_id", "deployment_id", "Deployment id"),
  text("key", "organization_key_name", "Name of the API key"),
  facet("key_id", "organization_key_id", "Id of the API key"),
  text("email", "customer_email", "Customer e-mail"),
  text("customer_name", "customer_name", "Customer name"),
  facet("custom", "custom_identifier", "Custom id"),
  text("group", "group_identifier", "Group id"),
  text("evaluation", "evaluation_identifier", "Evaluation id"),
  text("method", "log_method", "How the span came"),
  facet("environment", "environment", "prod or test", { choices: ["prod", "test"] }),
  text("response", "response_id", "Response id"),
  text("gateway_log", "gateway_log_id", "Id of the gateway call"),
  text("scope", "scope_name", "Instrumentation scope"),
  text("cache_key", "cache_key", "Cache key"),
  text("cost_source", "cost_source", "stated or computed", { choices: ["stated", "computed"] }),
  text("price_version", "price_version", "Version of the price"),
  seconds("routing_time", "routing_time", "Time spent on routing"),
  number("error_count", "error_count", "1 for an error, else 0"),
  number("temperature", "temperature", "Temperature"),
  count("max_tokens", "max_tokens", "Limit of output tokens"),
  searched("tool_calls", "tool_calls", "Text of the tool calls"),
  searched("metadata", "metadata", "Text anywhere in metadata"),
  searched("properties", "properties", "Text anywhere in properties"),
  searched("prompt_messages", "prompt_messages", "Text of the prompt messages"),
  searched("completion_message", "completion_message", "Text of the completion"),
  searched("completion_messages", "completion_messages", "Text of the completions"),
];

const aliases = new Map([
  ["duration", "latency"],
  ["generation_time", "latency"],
  ["total_cost", "cost"],
  ["workflow_name", "span_workflow_name"],
  ["all_tokens", "total_tokens"],
  ["total_request_tokens", "total_tokens"],
  ["cache_bit", "cache_hit"],
]);

const byName = new Map<string, QueryField>([
  ...queryFields.map((each) => [each.name, each] as const),
  ...queryFields.map((each) => [each.word, each] as const),
]);

const keyCharsMax = 1024;
const evaluatorCharsMax = 254;

/** The family of a name such as `metadata.plan`: the dot or two underscores separate it from its key. */
export function familyOf(word: string): { family: "metadata" | "scores"; key: string } | undefined {
  const match = /^(metadata|scores?)(?:__|\.)(.*)$/s.exec(word);
  if (match === null) return undefined;
  return { family: match[1] === "metadata" ? "metadata" : "scores", key: match[2] ?? "" };
}

/** The field with a query name or API name. */
export function findField(word: string): QueryField | undefined {
  const known = byName.get(word) ?? byName.get(aliases.get(word) ?? "");
  if (known !== undefined) return known;
  const { family, key = "" } = familyOf(word) ?? {};
  if (family === undefined || key === "") return undefined;
  return family === "metadata" ? metadataField(key) : scoreField(key);
}

function metadataField(key: string): QueryField | undefined {
  const clean = key.toWellFormed().replaceAll("\0", "\uFFFD");
  if (clean.startsWith("_") || clean.length > keyCharsMax || clean.includes("\u001F")) return undefined;
  const help = "Metadata";
  return { name: `metadata__${clean}`, word: `metadata.${clean}`, kind: "dynamic", help, hasFacet: true };
}

function scoreField(evaluator: string): QueryField | undefined {
  if (evaluator.length > evaluatorCharsMax) return undefined;
  return { name: `scores__${evaluator}`, word: `score.${evaluator}`, kind: "dynamic", help: "Score" };
}

/** The API's value for a typed one, if it is an alternative name. */
export function canonicalValue({ valueWords }: QueryField, value: string): string {
  const lower = value.toLowerCase();
  return valueWords !== undefined && Object.hasOwn(valueWords, lower) ? (valueWords[lower] ?? value) : value;
}
