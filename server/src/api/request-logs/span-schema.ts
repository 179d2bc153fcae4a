import { z } from "zod";
import { spanBody } from "./span-body.ts";
import { requestedMembers, spanMembers } from "./span-members.ts";

/**
 * A span in responses, for the API reference: its members are those of span-members.ts. A member without an entry here
 * has the meaning of the same field in the span body.
 */
const described = (description: string) => z.unknown().meta({ description });
const text = (description: string) => z.string().nullable().meta({ description });
const known: Record<string, z.ZodType> = {
  id: z.string().meta({ description: "The same as unique_id." }),
  unique_id: z.string().meta({ description: "Id of the span for retrieving it." }),
  organization_id: described("Organization that owns the span."),
  unique_organization_id: described("The same as organization_id."),
  organization_key_id: described("API key that sent the span."),
  organization_key_name: described("Name of that key."),
  environment: z.enum(["prod", "test"]).meta({ description: "That of the key." }),
  timestamp: z.string().meta({ format: "date-time", description: "END of the span." }),
  start_time: z.string().meta({ format: "date-time", description: "Start of the span." }),
  prompt_messages: z.array(z.unknown()).nullable().meta({ description: "Input messages, of message logs only." }),
  completion_message: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: "Output message, of message logs only." }),
  metadata: z.record(z.string(), z.unknown()).meta({ description: "As sent, except keys that start with _." }),
  properties: z.record(z.string(), z.unknown()).meta({ description: "As sent." }),
  scores: z.record(z.string(), z.unknown()).meta({ description: "By evaluator." }),
  limit_info: z
    .looseObject({ is_allowed: z.boolean(), limits: z.array(z.unknown()) })
    .meta({ description: "Credit and budget checks of the call; without checks, it was allowed." }),
  attempts: z
    .array(
      z.looseObject({
        provider: z.string(),
        model: z.string(),
        status_code: z.int().nullable(),
        error_message: z.string().nullable(),
        latency: z.number(),
        cost: z.number().optional(),
      }),
    )
    .nullable()
    .meta({
      description:
        "For a gateway call with a failed attempt: the result of each attempt, in order, status_code as the provider stated it, " +
        "latency in seconds. Null if the first attempt succeeded.",
    }),
  input: text("Text as sent, or the JSON text of the input messages."),
  output: text("Text as sent, or the JSON text of the output message."),
  status: text("success or failed."),
  failed: described("Whether status is failed or status_code is 400 or more."),
  latency: z.number().nullable().meta({ description: "Seconds." }),
  total_tokens: described("Input plus output tokens; null when unknown."),
  total_request_tokens: described("The same as total_tokens."),
  cost: z.number().nullable().meta({ description: "USD; null when unknown." }),
  counted_cost: z
    .number()
    .nullable()
    .meta({
      description:
        "USD that the span adds to sums: 0 if another span counts for its call, the part of a stated cost that no span below it " +
        "has, null when unknown.",
    }),
  counted_tokens: described("Tokens that the span adds to sums: 0 if another span counts for them; null when unknown."),
  counted_customer_identifier: described(
    "Customer that the span counts for: its own, otherwise that of the nearest span above, otherwise that of its trace.",
  ),
  counted_thread_identifier: described("Conversation that the span counts for, determined in the same way."),
  cost_source: described("stated if it was sent, computed if it comes from the price table; null without a cost."),
  price_version: described("Price table and entry behind a computed cost."),
  cost_details: z
    .looseObject({
      source: z.looseObject({ kind: z.string(), name: z.string().nullable() }),
      lines: z.array(z.looseObject({ bucket: z.string(), rate: z.number(), amount: z.number() })),
    })
    .nullable()
    .meta({
      description:
        "The receipt of the cost: the source of its prices, a line for each bucket of tokens (rate in USD per million) or " +
        "units (rate in USD each), multipliers of the rates, assumptions, and counted units without a price. " +
        "In lists only if include_fields names it.",
    }),
  unpriced: described("Counted units without a price, separated by commas; null without any."),
  usage_is_estimated: described("Whether the token counts are estimates, if known."),
  is_log_omitted: described("Whether disable_log removed input and output."),
  new_messages: z.array(z.unknown()).meta({
    description:
      "Only if include_fields names it: the input and output messages that no earlier span of the conversation contains.",
  }),
  resent_message_count: z
    .int()
    .meta({ description: "Only if include_fields names it: the number of messages that are not in new_messages." }),
  blurred: described("Whether content is hidden from the reader; always false."),
};

const sent = new Map(Object.entries(spanBody.shape).map(([name, field]) => [name, field.unwrap().description]));

function schemaOf(name: string): z.ZodType {
  const description = sent.get(name);
  return known[name] ?? (description === undefined ? z.unknown() : described(description));
}

export const spanSchema = z
  .looseObject(
    Object.fromEntries(
      Object.keys({ ...spanMembers, ...requestedMembers }).map((name) => [name, schemaOf(name).optional()]),
    ),
  )
  .meta({ id: "Span" });
