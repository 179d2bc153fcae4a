import { z } from "zod";
import type { Environment } from "../../domain/principal.ts";
import type { Filter } from "../../filter/ast.ts";
import { toGroupFilter, type GroupCatalogue } from "../../filter/group-fields.ts";
import { timeWindow } from "../../http/query.ts";
import type { ListTracesQuery } from "../../storage/spans/trace-queries.ts";

export type TraceReadDeps = {
  traceCatalogue: GroupCatalogue;
  /** Milliseconds since the epoch. */
  now: () => number;
};

export type TraceQuery = {
  start_time: bigint | undefined;
  end_time: bigint | undefined;
  environment: Environment | "all" | undefined;
};

type TraceSelection = Pick<ListTracesQuery, "scope" | "window" | "condition">;

/** The traces that a request selects: those of its organisation, with a span in the window, that match the filter. */
export function selectTraces(
  { traceCatalogue, now }: TraceReadDeps,
  request: { organizationId: string; query: TraceQuery; filter: Filter },
): TraceSelection {
  const { startNs, endNs } = timeWindow(request.query, now());
  const { environment } = request.query;
  return {
    scope: {
      organization_id: request.organizationId,
      ...(environment !== undefined && environment !== "all" && { environment }),
    },
    window: { fromNs: startNs, toNs: endNs },
    condition: toGroupFilter(request.filter, traceCatalogue),
  };
}

const number = z.number();
const text = z.string().nullable();

/** A row of the list; a retrieved trace has its tree in addition. */
export const traceSchema = z
  .looseObject({
    id: z.string(),
    trace_unique_id: z.string(),
    root_span_unique_id: text,
    unique_organization_id: z.string(),
    organization_name: text,
    environment: z.string(),
    name: text.meta({ description: "Name of the root span: the earliest without a parent in the trace." }),
    customer_identifier: text.meta({ description: "The root's, otherwise that of the earliest span that has one." }),
    thread_identifier: text,
    timestamp: z.string().meta({ format: "date-time", description: "When the last span ended; also end_time." }),
    start_time: z.string().meta({ format: "date-time" }),
    duration: number.meta({ description: "Seconds, never negative." }),
    span_count: z.int(),
    llm_call_count: z.int(),
    error_count: z.int(),
    total_cost: number.meta({
      description:
        "USD. Usage counts at the deepest spans of a branch that have any, not at wrappers that restate it. Unknown costs are skipped and counted in unpriced_count.",
    }),
    total_tokens: number,
    total_prompt_tokens: number,
    total_completion_tokens: number,
    unpriced_count: z.int(),
    input: text.meta({ description: "The root's." }),
    output: text,
    metadata: z.unknown().meta({ description: "The root's." }),
  })
  .meta({ id: "Trace" });
