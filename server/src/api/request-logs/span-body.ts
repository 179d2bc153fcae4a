import { z } from "zod";
import { domainLimits } from "../../domain/limits.ts";

/**
 * The span body as the API reference documents it. Bodies are read by ingest/wire-fields.ts, which has the same fields
 * and states for each what is accepted.
 */
const text = (description: string) => z.string().meta({ description });
const identifier = (description: string) => z.string().max(domainLimits.identifierChars).meta({ description });
const tokens = (description: string) => z.int().min(0).meta({ description });
const number = (description: string) => z.number().meta({ description });
const integer = (description: string) => z.int().meta({ description });
const usd = (description: string) => z.number().min(0).meta({ description });
const boolean = (description: string) => z.boolean().meta({ description });
const json = (description: string) => z.unknown().meta({ description });
const object = (description: string) => z.record(z.string(), z.unknown()).meta({ description });
const list = (description: string) => z.array(z.unknown()).meta({ description });
const messages = (description: string) => z.array(z.record(z.string(), z.unknown())).meta({ description });
const textOrObject = (description: string) =>
  z.union([z.string(), z.record(z.string(), z.unknown())]).meta({ description });
const time = (description: string) => z.union([z.string(), z.number()]).meta({ description });

export const spanBody = z
  .looseObject({
    log_type: text(
      "chat, completion, response, embedding, agent, generation, tool, workflow … Default: chat if there are messages, otherwise text.",
    ),
    model: identifier("Model that was called; absent on spans that are not a model call."),
    provider_id: identifier("Provider of the model; helps to find its price."),
    prompt_messages: messages("Input messages of a model call. Alias: messages."),
    completion_message: object("Output message of a model call."),
    completion_messages: messages("All output messages, if a call returned several."),
    input: json("Text or JSON; for message logs also the JSON text of the messages."),
    output: json("Text or JSON, likewise."),
    tools: list("Tools that the model could call."),
    tool_calls: list("Tool calls that the model requested."),
    tool_choice: textOrObject("auto, none, or the tool that must be called."),
    response_format: textOrObject("Required form of the answer, such as a JSON schema."),
    full_request: json("Request to the provider, as it was sent."),
    full_response: json("Response of the provider, as it was received."),
    reasoning: json("Reasoning that the model gave beside its answer."),
    embedding: json("Vector, or vectors, of an embedding call."),
    audio_input_file: json("Input audio, such as its address."),
    audio_output_file: json("Output audio, likewise."),
    variables: object("Values that were put into the prompt's placeholders."),
    ideal_output: json("Expected output, for evaluations."),
    prompt_tokens: tokens("Input tokens."),
    completion_tokens: tokens("Output tokens, including reasoning."),
    total_tokens: tokens("Default: input plus output. Aliases: total_request_tokens, all_tokens."),
    prompt_cache_hit_tokens: tokens("Input tokens read from the provider's cache."),
    prompt_cache_creation_tokens: tokens("Input tokens written to the provider's cache."),
    cache_creation_1h_tokens: tokens("Those of them that are cached for an hour, which cost more."),
    reasoning_tokens: tokens("Output tokens spent on reasoning."),
    audio_prompt_tokens: tokens("Input tokens that are audio."),
    audio_completion_tokens: tokens("Output tokens that are audio."),
    usage: object("A usage object of OpenAI or Anthropic; used for token fields that are absent."),
    usage_details: object(
      "Counts of buckets without a field of their own, for the price: audio_prompt_tokens, cache_creation_1h_tokens …",
    ),
    usage_is_estimated: boolean("Whether the token counts are the sender's own estimate."),
    cost: usd("USD. Default: computed from the model's price."),
    prompt_unit_price: usd("USD per million input tokens, instead of the price table's."),
    completion_unit_price: usd("USD per million output tokens, likewise."),
    timestamp: time(
      "END of the span. ISO 8601 (naive means UTC), or epoch seconds or milliseconds. Default: start_time plus latency, otherwise now. Alias: end_time.",
    ),
    start_time: time("Start of the span, in the same forms. Default: timestamp minus latency."),
    latency: number("Seconds. Default: from start_time to timestamp. Alias: generation_time."),
    time_to_first_token: number("Seconds. Alias: ttft."),
    tokens_per_second: number("Output tokens per second. Default: from output tokens and latency."),
    routing_time: number("Seconds spent on routing the call."),
    status: text("success or error; error is stored as failed."),
    status_code: integer("HTTP status of the call. Default of a failed span: 500.").meta({ default: 200 }),
    error_message: text("Error message. Only status or status_code make a span an error."),
    error_code: json("Code of the error, as its source stated it."),
    warnings: json("Warnings that are not errors, as text or JSON."),
    stream: boolean("Whether the answer was streamed."),
    positive_feedback: boolean("The user's rating of the answer."),
    cache_hit: boolean("Whether the response came from a response cache."),
    cache_key: identifier("Key of the response cache."),
    temperature: number("Sampling temperature."),
    top_p: number("Share of the probability mass to sample from."),
    max_tokens: integer("Maximum number of output tokens."),
    frequency_penalty: number("Penalty on tokens by their frequency."),
    presence_penalty: number("Penalty on tokens that already occurred."),
    n: integer("Number of requested answers."),
    stop: z.union([z.string(), z.array(z.unknown())]).meta({ description: "Texts at which the model stops." }),
    encoding_format: text("Form of an embedding: float or base64."),
    dimensions: integer("Length of an embedding."),
    customer_identifier: identifier("Customer of the application that the span was for."),
    customer_email: identifier("E-mail address of that customer."),
    customer_name: text("Name of that customer."),
    customer_params: object("{customer_identifier, name, email}: the three above in one object."),
    thread_identifier: identifier("Conversation that the span belongs to."),
    session_identifier: identifier("Session that the span belongs to."),
    trace_group_identifier: identifier("Groups traces."),
    custom_identifier: identifier("Identifier of the caller's own, of any meaning."),
    group_identifier: identifier("Groups spans."),
    evaluation_identifier: identifier("Evaluation that the span belongs to."),
    prompt_id: identifier("Prompt template that was used."),
    prompt_name: text("Name of that template."),
    response_id: identifier(
      "The provider's id of the answer. Spans of one trace with the same one and the same model report one call.",
    ),
    gateway_log_id: identifier(
      "unique_id of the gateway's span of the call that this span reports: only the gateway's counts.",
    ),
    scope_name: text("OpenTelemetry instrumentation scope that reported the span."),
    prompt_version_number: z
      .union([z.string(), z.number()])
      .meta({ description: "Version of that template, as a number or a name such as latest." }),
    deployment_id: identifier("Deployment of the model."),
    deployment_name: identifier("Name of that deployment."),
    category: text("Label of the caller's own."),
    note: text("Remark of a person."),
    trace_unique_id: identifier("Trace that the span belongs to."),
    span_unique_id: identifier("Id of the span in its trace. Data with the same two ids belongs to the same span."),
    span_parent_id: z
      .string()
      .max(domainLimits.identifierChars)
      .nullable()
      .meta({ description: "span_unique_id of the parent. Absent or null: a root." }),
    span_name: text("Name of the step."),
    span_workflow_name: text("Name of the whole workflow. Alias: workflow_name."),
    span_path: text("Names of the steps above, joined."),
    trace_name: text("Name of the trace."),
    span_handoffs: json("Agents that the step handed over to."),
    span_tools: json("Tools that the step had."),
    span_links: json("Spans of other traces that belong to this one."),
    log_method: text(
      "How the span was logged. Default: by the route of the request. `gateway` and `evaluation` are the server's own.",
    ),
    metadata: object("Free keys; those starting with _ are stored but never returned."),
    properties: object("Free keys, for values that must keep their types."),
    disable_log: boolean("Stores metrics, drops input and output."),
    svc_params: object("Merged below the body's own fields. Legacy names: respan_params, keywordsai_params."),
  })
  .partial()
  .meta({ id: "SpanBody" });

/** An example of a span that a caller sends. */
export const spanExample = {
  model: "gpt-4o",
  prompt_messages: [{ role: "user", content: "Which city is the capital of Australia?" }],
  completion_message: { role: "assistant", content: "Canberra." },
  prompt_tokens: 1200,
  completion_tokens: 85,
  latency: 1.4,
  customer_identifier: "acme",
  metadata: { feature: "quiz" },
};
