import { z } from "zod";
import type { AlertEvent } from "../../domain/alert-event.ts";
import { alertEventTypes, alertOperators, alertStates } from "../../domain/alert.ts";
import { environments } from "../../domain/principal.ts";

const time = z.string().meta({ format: "date-time" });
const number = z.number().nullable();

/** The payload for channels and webhooks. */
export const alertEventSchema = z
  .object({
    type: z.enum(alertEventTypes),
    alert: z.object({
      id: z.string(),
      name: z.string(),
      url: z.string().nullable().meta({ description: "URL of its page; null if SPANWAY_PUBLIC_URL is not set." }),
    }),
    unique_organization_id: z.string(),
    environment: z.enum(environments),
    metric: z.string(),
    window: z.string(),
    operator: z.enum(alertOperators),
    threshold: number,
    change_percentage: number,
    state: z.enum(alertStates),
    previous_state: z.enum(alertStates),
    customer_identifier: z.string().optional().meta({ description: "For a group of a single customer." }),
    group: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
    since: time,
    value: number,
    previous_value: number,
    number_of_requests: z.int(),
    window_start: time,
    window_end: time,
    spans_url: z
      .string()
      .nullable()
      .meta({ description: "The list of its spans; a path if SPANWAY_PUBLIC_URL is not set." }),
    is_test: z.boolean(),
  } satisfies Record<keyof AlertEvent, z.ZodType>)
  .meta({ id: "AlertEvent" });
