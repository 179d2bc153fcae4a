import { z } from "zod";
import { spanMembers } from "./span-members.ts";

/** A span in responses, for the API reference: its members are those of span-members.ts. */
const text = z.string().nullable();
const known: Record<string, z.ZodType> = {
  id: z.string(),
  unique_id: z.string(),
  environment: z.enum(["prod", "test"]),
  timestamp: z.string().meta({ format: "date-time", description: "END of the span." }),
  start_time: z.string().meta({ format: "date-time" }),
  prompt_messages: z.array(z.unknown()).nullable(),
  completion_message: z.record(z.string(), z.unknown()).nullable(),
  metadata: z.record(z.string(), z.unknown()),
  properties: z.record(z.string(), z.unknown()),
  scores: z.record(z.string(), z.unknown()).meta({ description: "By evaluator." }),
  limit_info: z.looseObject({ is_allowed: z.boolean(), limits: z.array(z.unknown()) }),
  input: text,
  output: text,
  status: text.meta({ description: "success or failed." }),
  latency: z.number().nullable().meta({ description: "Seconds." }),
  cost: z.number().nullable().meta({ description: "USD; null when unknown." }),
};

export const spanSchema = z
  .looseObject(
    Object.fromEntries(Object.keys(spanMembers).map((name) => [name, (known[name] ?? z.unknown()).optional()])),
  )
  .meta({ id: "Span" });
