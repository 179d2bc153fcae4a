import { z } from "zod";

/**
 * The span body as the API reference documents it. Bodies are read by ingest/wire-fields.ts, which says per field what
 * is accepted; a test holds the two lists together.
 */
const time = z
  .union([z.string(), z.number()])
  .meta({ description: "ISO 8601 (naive means UTC), or epoch seconds or milliseconds." });
const messages = z.array(z.record(z.string(), z.unknown()));
const tokens = z.int().min(0);

export const spanBody = z
  .looseObject({
    log_type: z.string().meta({
      description:
        "chat, completion, response, embedding, agent, generation, tool, workflow … Default: chat where messages are, else text.",
    }),
    model: z.string(),
    provider_id: z.string(),
    prompt_messages: messages.meta({ description: "Input messages of a model call. Alias: messages." }),
    completion_message: z.record(z.string(), z.unknown()).meta({ description: "Output message of a model call." }),
    completion_messages: messages,
    input: z.unknown().meta({ description: "Text or JSON; for message logs also the JSON text of the messages." }),
    output: z.unknown(),
    tools: z.array(z.unknown()),
    tool_calls: z.array(z.unknown()),
    tool_choice: z.union([z.string(), z.record(z.string(), z.unknown())]),
    response_format: z.union([z.string(), z.record(z.string(), z.unknown())]),
    full_request: z.unknown(),
    full_response: z.unknown(),
    reasoning: z.unknown(),
    embedding: z.unknown(),
    audio_input_file: z.unknown(),
    audio_output_file: z.unknown(),
    variables: z.record(z.string(), z.unknown()),
    ideal_output: z.unknown(),
    prompt_tokens: tokens,
    completion_tokens: tokens,
    total_tokens: tokens.meta({ description: "Aliases: total_request_tokens, all_tokens." }),
    prompt_cache_hit_tokens: tokens,
    prompt_cache_creation_tokens: tokens,
    reasoning_tokens: tokens,
    usage: z
      .record(z.string(), z.unknown())
      .meta({ description: "A usage object of OpenAI or Anthropic; fills what the token fields leave open." }),
    cost: z.number().min(0).meta({ description: "USD. Computed from the model's price where absent." }),
    prompt_unit_price: z.number().min(0).meta({ description: "USD per million tokens." }),
    completion_unit_price: z.number().min(0).meta({ description: "USD per million tokens." }),
    timestamp: time.meta({ description: "END of the span. Default: start_time plus latency, else now." }),
    start_time: time,
    latency: z.number().meta({ description: "Seconds. Alias: generation_time." }),
    time_to_first_token: z.number().meta({ description: "Seconds. Alias: ttft." }),
    tokens_per_second: z.number(),
    routing_time: z.number().meta({ description: "Seconds." }),
    status: z.string().meta({ description: "success or error." }),
    status_code: z.int().meta({ default: 200 }),
    error_message: z.string(),
    error_code: z.unknown(),
    warnings: z.unknown(),
    stream: z.boolean(),
    positive_feedback: z.boolean(),
    cache_hit: z.boolean(),
    cache_key: z.string(),
    temperature: z.number(),
    top_p: z.number(),
    max_tokens: z.int(),
    frequency_penalty: z.number(),
    presence_penalty: z.number(),
    n: z.int(),
    stop: z.union([z.string(), z.array(z.unknown())]),
    encoding_format: z.string(),
    dimensions: z.int(),
    customer_identifier: z.string().max(254),
    customer_email: z.string(),
    customer_name: z.string(),
    customer_params: z.record(z.string(), z.unknown()).meta({ description: "{customer_identifier, name, email}" }),
    thread_identifier: z.string(),
    session_identifier: z.string(),
    trace_group_identifier: z.string(),
    custom_identifier: z.string(),
    group_identifier: z.string(),
    evaluation_identifier: z.string(),
    prompt_id: z.string(),
    prompt_name: z.string(),
    prompt_version_number: z.union([z.string(), z.number()]),
    deployment_id: z.string(),
    deployment_name: z.string(),
    category: z.string(),
    note: z.string(),
    trace_unique_id: z.string(),
    span_unique_id: z.string(),
    span_parent_id: z.string().nullable().meta({ description: "Absent or null: a root." }),
    span_name: z.string(),
    span_workflow_name: z.string().meta({ description: "Alias: workflow_name." }),
    span_path: z.string(),
    trace_name: z.string(),
    span_handoffs: z.unknown(),
    span_tools: z.unknown(),
    span_links: z.unknown(),
    log_method: z.string(),
    metadata: z
      .record(z.string(), z.unknown())
      .meta({ description: "Free keys; those starting with _ are kept but never returned." }),
    properties: z.record(z.string(), z.unknown()),
    disable_log: z.boolean().meta({ description: "Keeps metrics, drops input and output." }),
    svc_params: z
      .record(z.string(), z.unknown())
      .meta({ description: "Merged below the body's own fields. Legacy names: respan_params, keywordsai_params." }),
  })
  .partial()
  .meta({ id: "SpanBody" });
