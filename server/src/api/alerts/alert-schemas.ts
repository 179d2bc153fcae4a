import { z } from "zod";
import {
  alertChannelTypes,
  alertOperators,
  alertStates,
  alertEventTypes,
  durationMs,
  type AlertDefinition,
} from "../../domain/alert.ts";
import { ServiceError } from "../../domain/errors.ts";
import { environments } from "../../domain/principal.ts";
import { deliveryStatuses } from "../../domain/webhook.ts";
import { isObject } from "../../lib/json.ts";
import { apiLimits } from "../limits.ts";
import { domainLimits } from "../../domain/limits.ts";
import { httpLimits } from "../../http/limits.ts";
import { pricingLimits } from "../../pricing/limits.ts";
import { spanMetrics } from "../../storage/spans/span-series.ts";
import { nameSchema } from "../organizations/schemas.ts";
import { spanGroupBy } from "../request-logs/span-groupings.ts";
import { channelSchema, newChannelsSchema } from "./channel-schemas.ts";

const metricNames: ReadonlySet<string> = new Set(spanMetrics);
const isMetric = (name: string): boolean =>
  metricNames.has(name) || (/^scores__./s.test(name) && name.length <= httpLimits.nameChars);

const filters = z
  .custom<Record<string, unknown>>(isObject, "filters must be an object of field names")
  .refine(
    (value) => JSON.stringify(value).length <= apiLimits.alertFiltersChars,
    `filters may have ${apiLimits.alertFiltersChars} characters as JSON`,
  )
  .meta({ type: "object", additionalProperties: true, description: "Selects the spans: see the filter language." });

const metric = z
  .string()
  .refine(isMetric, `metric must be one of ${spanMetrics.join(", ")} or scores__<evaluator>`)
  .meta({ description: `One of ${spanMetrics.join(", ")}, or scores__<id or slug of an evaluator>.` });

function duration(name: string, range: { minMs: number; maxMs: number; shown: string }) {
  const message = `${name} must be ${range.shown}, in minutes, hours or days, as in 30m, 12h or 1d`;
  return z
    .string({ error: ({ input }) => (input === undefined ? "is required" : message) })
    .refine((text) => {
      const ms = durationMs(text);
      return ms !== undefined && ms >= range.minMs && ms <= range.maxMs;
    }, message)
    .meta({ pattern: "^\\d{1,6}[mhd]$" });
}

const window = duration("window", {
  minMs: apiLimits.alertWindowMinMs,
  maxMs: apiLimits.alertWindowMaxMs,
  shown: "5m to 30d",
}).describe("The length of the window that is measured; it ends at the last full minute.");

const cooldown = duration("cooldown", { minMs: 0, maxMs: apiLimits.alertCooldownMaxMs, shown: "0m to 1d" }).describe(
  "A group that was reported as triggered is not reported again for this time.",
);

const threshold = z.number().nullable();
const changePercentage = z.number().nullable().meta({
  description:
    "Compares the change from the window before, in percent, instead of the value: 50 means an increase by half.",
});

const groupBy = z
  .string()
  .nullable()
  .transform((text, context) => {
    const read = text === null || text === "" ? { names: [] } : spanGroupBy.read(text);
    if ("names" in read) return read.names;
    context.addIssue({ code: "custom", message: read.message });
    return z.NEVER;
  })
  .meta({ type: ["string", "null"], description: `${spanGroupBy.description} Each group has its own state.` });

const minRequests = z
  .int()
  .min(0)
  .max(pricingLimits.countMax)
  .meta({ description: "A window with fewer spans is no_data." });

const fields = { name: nameSchema, metric, window, operator: z.enum(alertOperators) };

export const newAlertSchema = z.object({
  ...fields,
  is_enabled: z.boolean().default(true),
  filters: filters.default({}),
  threshold: threshold.default(null),
  change_percentage: changePercentage.default(null),
  group_by: groupBy.default([]),
  min_requests: minRequests.default(0),
  cooldown: cooldown.default("5m"),
  channels: newChannelsSchema.default([]),
});

export const alertChangeSchema = z.object({
  name: fields.name.optional(),
  metric: metric.optional(),
  window: window.optional(),
  operator: fields.operator.optional(),
  is_enabled: z.boolean().optional(),
  filters: filters.optional(),
  threshold: threshold.optional(),
  change_percentage: changePercentage.optional(),
  group_by: groupBy.optional(),
  min_requests: minRequests.optional(),
  cooldown: cooldown.optional(),
  channels: newChannelsSchema.optional(),
});

export const alertExample = {
  name: "A customer spends too much",
  filters: { log_type: { operator: "", value: ["chat"] } },
  metric: "total_cost",
  window: "1h",
  operator: "gt",
  threshold: 10,
  group_by: "customer_identifier",
  channels: [{ type: "webhook", url: "https://example.com/alerts" }],
};

const time = z.string().meta({ format: "date-time" });
const value = z.number().nullable().meta({ description: "null is unknown." });
const group = z.record(z.string(), z.unknown()).meta({ description: "The value of each field of group_by." });
const spansUrl = z.string().meta({ description: "The list of its spans." });

const figures = { value, previous_value: value, number_of_requests: z.int() };

const alertStateSchema = z.object({
  group,
  state: z.enum(alertStates),
  since: time,
  ...figures,
  window_start: time,
  window_end: time,
  spans_url: spansUrl,
});

export const alertSchema = z
  .object({
    id: z.string(),
    environment: z.enum(environments).meta({ description: "The environment whose spans it watches." }),
    ...fields,
    is_enabled: z.boolean(),
    filters: z.record(z.string(), z.unknown()),
    window: z.string(),
    metric: z.string(),
    threshold,
    change_percentage: changePercentage,
    group_by: z.string().nullable(),
    min_requests: z.int(),
    cooldown: z.string(),
    channels: z.array(channelSchema),
    state: z
      .enum(alertStates)
      .meta({ description: "triggered if any group is, otherwise ok if any group is, otherwise no_data." }),
    group_counts: z.object({ ok: z.int(), triggered: z.int(), no_data: z.int() }),
    evaluated_until: time.nullable().meta({ description: "The end of the last window that was evaluated." }),
    last_error: z
      .string()
      .nullable()
      .meta({ description: "Why the last evaluation failed or was postponed; otherwise null." }),
    last_error_at: time.nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Alert" });

export const alertWithStatesSchema = alertSchema.extend({
  states: z.array(alertStateSchema).meta({
    description: `The groups with their states, triggered ones first; at most ${apiLimits.alertGroupsShown}.`,
  }),
});

export const historySchema = z
  .object({
    id: z.string(),
    created_at: time,
    event: z.enum(alertEventTypes).nullable().meta({ description: "The event for the channels; null: none." }),
    group: group.nullable(),
    state: z.enum(alertStates).nullable().meta({ description: "null of an error." }),
    previous_state: z.enum(alertStates).nullable(),
    value,
    previous_value: value,
    number_of_requests: z.int().nullable(),
    window_start: time.nullable(),
    window_end: time.nullable(),
    spans_url: spansUrl.nullable(),
    error: z.string().nullable(),
    deliveries: z
      .array(
        z.object({
          channel: z.int(),
          type: z.enum(alertChannelTypes),
          status: z.enum(deliveryStatuses),
          attempts: z.int(),
          last_attempt_at: time.nullable(),
          next_attempt_at: time.nullable(),
          response_status: z.int().nullable(),
          error: z.string().nullable(),
        }),
      )
      .meta({ description: "The delivery of the event to each channel that still exists." }),
  })
  .meta({ id: "AlertHistoryEntry" });

/** An id that does not match gives 404: there is no such alert. */
export const alertParams = z.object({ id: z.string().max(domainLimits.identifierChars) });

/** @throws ServiceError `invalid_request` unless exactly one of the two is given */
export function checkComparison({
  threshold: bound,
  change_percentage: change,
}: Pick<AlertDefinition, "threshold" | "change_percentage">): void {
  if ((bound === null) !== (change === null)) return;
  const message = "an alert has either a threshold or a change_percentage";
  throw new ServiceError("invalid_request", message, { errors: { threshold: [message] } });
}

export function alertNotFound(): ServiceError {
  return new ServiceError("not_found", "There is no such alert.");
}
