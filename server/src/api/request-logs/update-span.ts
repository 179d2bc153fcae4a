import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { rawJson } from "../../http/reply.ts";
import { httpLimits } from "../../http/limits.ts";
import { columnsOf, presentSpan } from "./present-span.ts";
import { readJsonBody } from "./span-ingest.ts";
import {
  changeSpans,
  readSpanChange,
  spanChangeExample,
  spanChangeSchema,
  type SpanChangeDeps,
} from "./span-changes.ts";

const changedSpan = z
  .object({
    unique_id: z.string(),
    note: z.string().nullable(),
    is_pinned: z.boolean(),
    positive_feedback: z.boolean().nullable(),
    metadata: z.record(z.string(), z.unknown()),
  })
  .partial()
  .required({ unique_id: true })
  .meta({ id: "ChangedSpan" });

export const updateSpan = (deps: SpanChangeDeps) =>
  endpoint({
    id: "update_span",
    method: "PATCH",
    path: "/api/request-logs/{unique_id}/",
    aliases: ["/request-logs/{unique_id}/"],
    summary: "Note, pin and rate a span, and change its metadata",
    description:
      "Omitted members keep their value. Changes remain when the span is resent, and are deleted with it. Returns the four " +
      "fields with their current values; a credential without the permission spans:read gets only what it sent.",
    tags: ["Spans"],
    auth: "key",
    permission: "scores:write",
    environment: "own",
    limit: "api",
    waitsInQueue: true,
    body: {
      kind: "raw",
      maxBytes: httpLimits.controlBodyBytes,
      documents: spanChangeSchema,
      example: spanChangeExample,
    },
    success: { status: 200, schema: changedSpan },
    errors: ["invalid_request", "forbidden", "not_found", "payload_too_large", "query_too_large", "unavailable"],
    async handler({ principal, params, body, signal }) {
      const change = readSpanChange(readJsonBody(body.bytes));
      const [key] = await changeSpans(deps, principal, [{ unique_id: params.unique_id, change }], signal);
      if (key === undefined || key instanceof ServiceError) throw key;
      if (!principal.permissions.has("spans:read")) return { unique_id: key.unique_id, ...change };
      const members = Object.keys(changedSpan.shape);
      const scope = { organization_id: principal.organization_id };
      const [span] = await deps.spans.hydrateSpans(scope, [key], columnsOf(members), signal);
      // A resend moved the span to another time after the lookup. The edit is stored by id, so it still applies.
      if (span === undefined) return { unique_id: key.unique_id, ...change };
      return rawJson(presentSpan(span, members));
    },
  });
