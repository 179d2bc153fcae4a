import type { Logger } from "pino";
import type { SpanIntake } from "../../ingest/accept/accept.ts";
import type { SpanOrigin } from "../../ingest/normalize/normalize.ts";
import type { PreparedSpan } from "../../ingest/accept/prepared-span.ts";
import type { ReadSpan } from "../../ingest/accept/read-span.ts";
import { boundedCounts } from "./bounded-counts.ts";

/** The span of one finished call, as the intake reads it. */
export type SpanRecord = {
  /** Called if `read` is absent or not accepted. */
  body: () => Record<string, unknown>;
  /** The already parsed span, for a call with nothing that the intake could refuse. */
  read?: ReadSpan | undefined;
  origin: SpanOrigin;
  identity: Buffer;
};

/**
 * Prepares the record of a call whatever it contains: without the fields that the store refuses, or finally without any
 * content. Returns undefined, after an error log, if even that is refused.
 */
export function prepareRecord(
  intake: Pick<SpanIntake, "prepare" | "prepareRead">,
  record: SpanRecord,
  logger: Logger,
): PreparedSpan | undefined {
  const { read, origin, identity } = record;
  try {
    const ready = read && intake.prepareRead(read, origin, identity);
    if (ready !== undefined) return ready;
    const body = record.body();
    const whole = intake.prepare(body, origin, identity);
    if (whole.ok) return whole.span;
    const fitting = intake.prepare(withoutFields(body, Object.keys(whole.errors), whole.code), origin, identity);
    if (fitting.ok) return fitting.span;
    const least = intake.prepare(bare(body, Object.keys(fitting.errors)), origin, identity);
    if (least.ok) return least.span;
    logger.error("the span of a gateway call was refused");
  } catch (error) {
    logger.error({ err: error }, "the span of a gateway call could not be made");
  }
  return undefined;
}

const content = ["prompt_messages", "completion_message", "completion_messages", "tools", "response_format"];

function withoutFields(
  body: Record<string, unknown>,
  fields: readonly string[],
  code: string,
): Record<string, unknown> {
  const left = code === "payload_too_large" || fields.includes("body") ? [...fields, ...content] : fields;
  const kept = Object.fromEntries(Object.entries(body).filter(([name]) => !left.includes(name)));
  const warnings = Array.isArray(kept["warnings"]) ? (kept["warnings"] as unknown[]) : [];
  if ("usage" in kept) kept["usage"] = boundedCounts(kept["usage"]);
  return { ...kept, warnings: [...warnings, `left out, because the store cannot hold it: ${left.join(", ")}`] };
}

/** Fields that identify the call's customer and determine its cost. */
const bareFields = new Set([
  "customer_identifier",
  "cost",
  "cache_hit",
  "usage_is_estimated",
  "log_type",
  "model",
  "provider_id",
  "start_time",
  "timestamp",
  "latency",
  "status_code",
  "usage",
]);

function bare(body: Record<string, unknown>, refused: readonly string[]): Record<string, unknown> {
  const kept = Object.entries(body).filter(([name]) => bareFields.has(name) && !refused.includes(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, name === "usage" ? boundedCounts(value) : value]));
}
