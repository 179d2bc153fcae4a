import type { AnyEndpoint } from "../../http/endpoint.ts";
import { outlineTrace } from "./outline-trace.ts";
import { argumentsOf, type ToolArguments } from "./tool-arguments.ts";

/** A tool of the MCP server: an operation of the API, in a form for models. */
export type ToolSpec = {
  name: string;
  /** The id of the operation that the tool performs. Its arguments, checks and permission come from there. */
  operation: string;
  /** For the model, in addition to the operation's own description. */
  description: string;
  /** How to request less, if a response was truncated. */
  narrow: string;
  /** Parameters of the operation that the tool does not have. */
  without?: readonly string[];
  /** Values of parameters that the model does not set. */
  presets?: Readonly<Record<string, string>>;
  /** Takes `text`: a case-insensitive search in the text of spans. */
  takesText?: true;
  /** Converts the operation's response for the model. */
  present?: (answer: Record<string, unknown>) => Record<string, unknown>;
};

export type Tool = ToolSpec & { endpoint: AnyEndpoint; arguments: ToolArguments };

const older = ["is_test", "all_envs", "fetch_filters"];
const spans = { without: older, takesText: true } as const;

const window = "The window is the last hour unless start_time says otherwise.";

/** Members of a row without the span's texts, which may be long. */
const brief =
  "unique_id,timestamp,environment,span_name,log_type,model,status,status_code,error_message,latency,cost,total_tokens,customer_identifier,trace_unique_id,span_parent_id";

const toolSpecs: readonly ToolSpec[] = [
  {
    ...spans,
    name: "search_spans",
    operation: "list_spans",
    description: `Finds spans (model calls, tool calls, steps of agents), newest first. ${window} Rows are brief: name members such as input, output or metadata in include_fields, or read one with get_span.`,
    narrow: "Ask for fewer rows (page_size), fewer include_fields, a shorter window or more filters.",
    presets: { page_size: "20", include_fields: brief },
  },
  {
    name: "get_span",
    operation: "retrieve_span",
    description: "Reads one span whole, with its messages, metadata, usage and scores.",
    narrow:
      "Name the members that you need in include_fields: input, output, prompt_messages, completion_message, metadata.",
    without: ["media"],
  },
  {
    name: "get_trace",
    operation: "retrieve_trace",
    description:
      "Reads a trace as an outline: its figures, and its spans with their depth, in order, each after its parent. If there are too many, the spans next to the root come first.",
    narrow:
      'For the rest use search_spans with filters {"trace_unique_id": …} and, for the children of a span, {"span_parent_id": …}.',
    without: ["tree", "page", "page_size", "media"],
    presets: { tree: "slim" },
    present: outlineTrace,
  },
  {
    ...spans,
    name: "summarize_spans",
    operation: "summarize_spans",
    description: `Sums up spans: requests, errors, cost in USD, tokens, latency. ${window}`,
    narrow: "Ask for a shorter window or more filters.",
  },
  {
    ...spans,
    name: "group_spans",
    operation: "group_spans",
    description: `Sums up spans by one or two fields, for example cost by model or errors by customer. ${window}`,
    narrow: "Ask for fewer groups (page_size), or search for one.",
    presets: { page_size: "20", sort_by: "-number_of_requests" },
  },
  {
    ...spans,
    name: "chart_spans",
    operation: "span_timeseries",
    description: `Metrics of spans over time, as one series or one for each group. ${window}`,
    narrow: "Ask for a longer interval, fewer metrics or a smaller top.",
    presets: { top: "5" },
  },
  {
    ...spans,
    name: "list_field_values",
    operation: "span_facets",
    description: `The values of span fields with their frequency, and the metadata keys: for filters and groups. ${window}`,
    narrow: "Ask for fewer fields or a smaller limit, or search in one field.",
  },
  {
    name: "list_customers",
    operation: "list_customers",
    description: "Customers with their usage, cost and budgets, over all time unless start_time says otherwise.",
    narrow: "Ask for fewer rows (page_size) or filter.",
    without: [...older, "log_type"],
    presets: { page_size: "20" },
  },
  {
    name: "list_evaluators",
    operation: "list_evaluators",
    description: "Evaluators of span scores: their slugs and their possible values.",
    narrow: "Ask for fewer rows (page_size), or search.",
    without: ["starred", "tags", "filters"],
    presets: { page_size: "20" },
  },
  {
    name: "create_score",
    operation: "create_score",
    description: "Scores a span. log_id is its unique_id, evaluator_slug is one of list_evaluators.",
    narrow: "",
  },
];

/** @throws Error if an operation is missing */
export function bindTools(endpoints: readonly AnyEndpoint[]): Tool[] {
  return toolSpecs.map((tool) => {
    const endpoint = endpoints.find(({ id }) => id === tool.operation);
    if (endpoint === undefined) throw new Error(`the tool ${tool.name} performs ${tool.operation}, which is not there`);
    return { ...tool, endpoint, arguments: argumentsOf(tool, endpoint) };
  });
}
