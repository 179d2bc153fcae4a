import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import type { SpanRow } from "../../domain/span.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { SpanIntake } from "../../ingest/accept/accept.ts";
import { originOf } from "../../ingest/normalize/normalize.ts";
import { isoTime } from "../../lib/time.ts";
import { storageLimits } from "../../storage/limits.ts";
import { readIdempotencyKey, readJsonBody, sentenceOf, unknownWarnings, warningsOf } from "./span-ingest.ts";
import { spanBody, spanExample } from "./span-body.ts";

const created = z
  .object({
    id: z.string(),
    unique_id: z.string(),
    organization_id: z.string(),
    environment: z.enum(["prod", "test"]),
    customer_identifier: z.string().nullable(),
    status: z.enum(["success", "error"]),
    cost: z.number().nullable().meta({ description: "USD; null when model or usage is unknown." }),
    timestamp: z.string().meta({ format: "date-time" }),
    latency: z.number().nullable(),
    time_to_first_token: z.number().nullable(),
    prompt_cache_creation_tokens: z.number().nullable(),
    prompt_cache_hit_tokens: z.number().nullable(),
    message: z.string(),
    warnings: unknownWarnings,
  })
  .meta({ id: "CreatedSpan" });

export const createSpan = (deps: { intake: SpanIntake }) =>
  endpoint({
    id: "create_span",
    method: "POST",
    path: "/api/request-logs/",
    aliases: ["/api/request-logs/create/", "/request-logs/", "/request-logs/create/"],
    summary: "Create a span",
    description:
      "Responds once the span is on disk. With `trace_unique_id` and `span_unique_id` a resend is the same span; " +
      "otherwise send an `Idempotency-Key` header to make a retry safe. `environment` is that of the API key.",
    tags: ["Spans"],
    auth: "key",
    permission: "spans:ingest",
    body: { kind: "raw", maxBytes: storageLimits.spanBytes, documents: spanBody, example: spanExample },
    success: { status: 201, schema: created },
    errors: ["invalid_request", "payload_too_large", "validation_failed", "unavailable"],
    async handler({ principal, body, headers }) {
      const [outcome] = await deps.intake.accept([readJsonBody(body.bytes)], originOf(principal, "logging_api"), {
        idempotencyKey: readIdempotencyKey(headers["idempotency-key"], body.bytes),
      });
      if (outcome?.ok) return { ...presentCreated(outcome.row), ...warningsOf([outcome]) };
      const errors = outcome?.errors ?? {};
      throw new ServiceError(outcome?.code ?? "internal", `${sentenceOf(errors)}.`, { errors });
    },
  });

function presentCreated(row: SpanRow): z.input<typeof created> {
  return {
    id: row.unique_id,
    unique_id: row.unique_id,
    organization_id: row.organization_id,
    environment: row.environment,
    customer_identifier: row.customer_identifier ?? null,
    status: row.status === "failed" ? "error" : "success",
    cost: row.cost ?? null,
    timestamp: isoTime(row.timestamp),
    latency: row.latency ?? null,
    time_to_first_token: row.time_to_first_token ?? null,
    prompt_cache_creation_tokens: numberOrNull(row.prompt_cache_creation_tokens),
    prompt_cache_hit_tokens: numberOrNull(row.prompt_cache_hit_tokens),
    message: "log accepted",
  };
}

function numberOrNull(value: number | string | undefined): number | null {
  return value === undefined ? null : Number(value);
}
