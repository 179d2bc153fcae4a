import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { coverageOf, coverageSchema } from "../coverage.ts";
import { filtersBody, selectionQuery } from "../read-filters.ts";
import { percentileMembers } from "./percentile-members.ts";
import { readSelection, type SpanReadDeps } from "./read-selection.ts";

// Clients require numbers here, so absence cannot be null as in spans.
const ofNone = "Of the spans with a value; 0 without any.";

const summary = z
  .object({
    number_of_requests: z.int(),
    total_cost: z
      .number()
      .meta({ description: "USD; spans without a known cost are skipped and counted in unpriced_count." }),
    total_tokens: z.number(),
    total_prompt_tokens: z.number(),
    total_completion_tokens: z.number(),
    avg_latency: z.number().meta({ description: `Seconds. ${ofNone}` }),
    avg_tps: z.number().meta({ description: `Output tokens per second. ${ofNone}` }),
    avg_ttft: z.number().meta({ description: `Seconds. ${ofNone}` }),
    scores: z.record(z.string(), z.unknown()).meta({ description: "By evaluator." }),
    error_count: z.int(),
    unpriced_count: z.int().meta({ description: "Model calls without a known cost." }),
    cache_hit_count: z.int(),
    number_of_customers: z
      .int()
      .meta({ description: "Customers that spans count for; the same one in two environments counts twice." }),
    ...percentileMembers,
    ...coverageSchema,
  })
  .meta({ id: "SpanSummary" });

export const summarizeSpans = (deps: SpanReadDeps & { spans: SpanStore }) =>
  endpoint({
    id: "summarize_spans",
    method: "POST",
    path: "/api/request-logs/summary/",
    aliases: [
      { method: "GET", path: "/api/request-logs/summary/" },
      { method: "GET", path: "/request-logs/summary/" },
      "/request-logs/summary/",
    ],
    summary: "Summarize spans",
    description:
      "Filters are in the body and the URL, as in the list of spans. `window` and `environment` state what was summed.",
    tags: ["Spans"],
    auth: "key",
    permission: "spans:read",
    waitsInQueue: true,
    query: z.object(selectionQuery()),
    body: {
      kind: "json",
      schema: filtersBody,
      example: { filters: { customer_identifier: { operator: "", value: ["acme"] } } },
    },
    success: { status: 200, schema: summary },
    errors: ["invalid_request", "query_too_large", "unavailable"],
    async handler({ principal, query, body, rawQuery, signal }) {
      const selection = readSelection(deps, { organizationId: principal.organization_id, query, body, rawQuery });
      const [figures, scores] = await Promise.all([
        deps.spans.summarizeSpans(selection, signal),
        deps.spans.summarizeScores(selection, signal),
      ]);
      const { warnings } = selection;
      return {
        ...figures,
        ...coverageOf(selection),
        ...(warnings.length > 0 && { warnings }),
        scores: Object.fromEntries(scores.map((score) => [score.evaluator_id, score])),
      };
    },
  });
