import { z } from "zod";
import { serviceParamMembers } from "../gateway-docs.ts";

const message = z
  .looseObject({
    role: z.string().meta({ description: "`system`, `developer`, `user`, `assistant` or `tool`." }),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
  })
  .meta({ id: "ChatMessage" });

/** For the API reference: the gateway reads bodies itself, and passes on members that it does not know. */
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
    echo: z.boolean().optional().meta({ description: "The response contains `prompt_messages`." }),
    stop: z.union([z.string(), z.array(z.string())]).optional(),
    response_format: z.looseObject({ type: z.string() }).optional(),
    ...serviceParamMembers,
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
