import { z } from "zod";
import type { SpanScope } from "../domain/span.ts";
import { formatTimeNs } from "../lib/time.ts";
import type { TimeWindow } from "../storage/spans/span-store.ts";

/** The time range that a response covers, so that callers need not know the defaults of the query. */
export const coverageSchema = {
  window: z.object({
    start_time: z.string().meta({ format: "date-time" }),
    end_time: z.string().meta({ format: "date-time" }),
  }),
  environment: z.enum(["prod", "test", "all"]),
  warnings: z.array(z.string()).optional().meta({
    description: "URL parameters that filtered metadata, because spans have no such field, or that had no effect.",
  }),
};

export function coverageOf({ scope, window }: { scope: SpanScope; window: TimeWindow }) {
  return {
    window: { start_time: formatTimeNs(window.fromNs), end_time: formatTimeNs(window.toNs) },
    environment: scope.environment ?? ("all" as const),
  };
}
