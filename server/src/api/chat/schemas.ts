import { z } from "zod";

const message = z
  .looseObject({
    role: z.string().meta({ description: "`system`, `developer`, `user`, `assistant` or `tool`." }),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
  })
  .meta({ id: "ChatMessage" });

/** For the API reference: the gateway reads bodies by itself, and passes on what it does not know. */
export const chatBody = z
  .looseObject({
    model: z.string().meta({ description: "A model's name, or `provider/model`.", example: "spanway/echo" }),
    messages: z.array(message),
    stream: z.boolean().optional(),
    stream_options: z.looseObject({ include_usage: z.boolean().optional() }).optional(),
    tools: z.array(z.looseObject({})).optional(),
    tool_choice: z.union([z.string(), z.looseObject({})]).optional(),
    temperature: z.number().min(0).max(2).optional(),
    frequency_penalty: z.number().min(-2).max(2).optional(),
    presence_penalty: z.number().min(-2).max(2).optional(),
    max_tokens: z.number().optional(),
    max_completion_tokens: z.number().optional(),
    n: z.number().optional(),
    logprobs: z.boolean().optional(),
    echo: z.boolean().optional().meta({ description: "The answer holds `prompt_messages`." }),
    stop: z.union([z.string(), z.array(z.string())]).optional(),
    response_format: z.looseObject({ type: z.string() }).optional(),
    fallback_models: z.array(z.string()).optional(),
    customer_identifier: z.string().optional(),
    thread_identifier: z.string().optional(),
    metadata: z.looseObject({}).optional().meta({ description: "Kept with the span; no provider gets it." }),
    disable_log: z.boolean().optional().meta({ description: "Metrics alone are kept, nothing that was said." }),
    cache_enabled: z
      .boolean()
      .optional()
      .meta({ description: "The same question may be answered with the same answer, which is kept for it." }),
    cache_ttl: z
      .number()
      .min(0)
      .optional()
      .meta({ description: "Seconds that the answer is kept: 30 days by default." }),
    cache_options: z
      .looseObject({
        cache_by_customer: z.boolean().optional(),
        is_cached_by_model: z.boolean().optional(),
        omit_log: z.boolean().optional(),
      })
      .optional(),
    request_breakdown: z.boolean().optional(),
    svc_params: z.looseObject({}).optional().meta({ description: "Service parameters." }),
  })
  .meta({ id: "ChatCompletionRequest" });

export const chatCompletion = z
  .looseObject({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.number(),
    model: z.string(),
    choices: z.array(
      z.looseObject({ index: z.number(), message: z.looseObject({}), finish_reason: z.string().nullable() }),
    ),
    usage: z
      .looseObject({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() })
      .optional(),
    request_breakdown: z.looseObject({}).optional(),
  })
  .meta({ id: "ChatCompletion" });
