import { setImmediate as nextTurn } from "node:timers/promises";
import { domainLimits } from "../../domain/limits.ts";
import { productFamilies } from "../../domain/product-families.ts";
import { createNestedJson, type NestedJson } from "../../validation/field-readers.ts";
import type { RowOutcome, SpanIntake } from "../accept/accept.ts";
import { ingestLimits } from "../limits.ts";
import type { SpanOrigin } from "../normalize/normalize.ts";
import { asText } from "./attribute-bag.ts";
import { callEvents, isAroundCall } from "./details-events.ts";
import type { ExportRequest, OtlpEvent, OtlpSpan, ScopeItems, OtlpScope } from "./export-request.ts";
import type { LogJoiner } from "./join-logs.ts";
import { mapSpan, type SpanBody } from "./map-span.ts";

export type AcceptedExport = {
  accepted: number;
  /** The reasons why items were rejected, one per item. */
  rejected: string[];
  /** Whether no span has an id, as if a logs export was decoded as traces. */
  isWithoutIds: boolean;
};

type PlacedSpan = Omit<ScopeItems<OtlpSpan>, "items"> & { span: OtlpSpan };

/**
 * Maps and accepts the spans of an export, in slices, so that a large export does not delay others. A span without
 * valid ids is rejected: it cannot be assigned to a trace. If a slice fails, earlier slices are stored already; the
 * exporter sends everything again, and the same ids are the same spans.
 *
 * @throws ServiceError `unavailable`
 */
export async function acceptTraces(
  request: ExportRequest<OtlpSpan>,
  origin: SpanOrigin,
  { intake, logs }: { intake: SpanIntake; logs: Pick<LogJoiner, "eventsFor"> },
): Promise<AcceptedExport> {
  const result: AcceptedExport = {
    accepted: 0,
    rejected: Array.from({ length: request.malformed }, () => "a span could not be decoded"),
    isWithoutIds: false,
  };
  const spans = placedSpans(request, result);
  restoreParents(spans);
  const nested = createNestedJson(domainLimits.bodyNodes);
  for (let from = 0; from < spans.length; from += ingestLimits.otlpSliceSpans) {
    if (from > 0) await nextTurn();
    const slice = spans.slice(from, from + ingestLimits.otlpSliceSpans);
    const bodies = slice.map(({ span, ...place }): SpanBody =>
      mapped({ span, ...place }, logs.eventsFor(origin, span), nested),
    );
    countOutcomes(await intake.accept(bodies, origin), result);
  }
  return result;
}

/**
 * Maps a span with its waiting log records. If this is the span around a call, records of the call keep waiting for the
 * call's own span.
 */
function mapped({ span, ...place }: PlacedSpan, events: readonly OtlpEvent[], nested: NestedJson): SpanBody {
  const { ofCall, others } = callEvents(events);
  const body = mapSpan(span, place, { nested, logEvents: others });
  if (ofCall.length === 0 || isAroundCall(body["log_type"], ofCall)) return body;
  return mapSpan(span, place, { nested, logEvents: events });
}

function placedSpans(request: ExportRequest<OtlpSpan>, result: AcceptedExport): PlacedSpan[] {
  const placed: PlacedSpan[] = [];
  let withoutIds = 0;
  for (const { resource, scope, items } of request.groups) {
    for (const span of items) {
      const problem = idProblem(span);
      if (span.traceId === "" && span.spanId === "") withoutIds += 1;
      if (problem === undefined) placed.push({ span, resource, scope });
      else result.rejected.push(problem);
    }
  }
  result.isWithoutIds = placed.length === 0 && withoutIds > 0;
  return placed;
}

function idProblem({ traceId, spanId }: OtlpSpan): string | undefined {
  if (traceId === "") return "traceId must be 16 bytes that are not all zero";
  return spanId === "" ? "spanId must be 8 bytes that are not all zero" : undefined;
}

function countOutcomes(outcomes: readonly RowOutcome[], result: AcceptedExport): void {
  for (const outcome of outcomes) {
    if (outcome.ok) result.accepted += 1;
    else
      result.rejected.push(
        Object.entries(outcome.errors)
          .map(([field, [problem]]) => `${field} ${problem}`)
          .join("; "),
      );
  }
}

/** `@keywordsai/tracing`, `respan-tracing` … */
const productSdk = new RegExp(`^@?(?:${productFamilies.join("|")})[/_-]tracing`);

type Placed = { span: OtlpSpan; scope: OtlpScope };

/**
 * The product's own SDKs remove the parent of every decorated span, so that one trace has many roots. If the enclosing
 * span is in the same export, the parent is restored: preferably the span that the path names, otherwise the innermost
 * decorated span of the trace that was running the whole time.
 */
export function restoreParents(spans: readonly Placed[]): void {
  const byTrace = new Map<string, OtlpSpan[]>();
  for (const { span, scope } of spans) {
    if (!productSdk.test(scope.name) || !span.attributes.has("traceloop.span.kind")) continue;
    const trace = byTrace.get(span.traceId);
    if (trace) trace.push(span);
    else byTrace.set(span.traceId, [span]);
  }
  for (const trace of byTrace.values()) nest(trace);
}

function nest(decorated: OtlpSpan[]): void {
  let running: OtlpSpan[] = [];
  for (const span of decorated.toSorted(byStartThenLongest)) {
    running = running.filter(({ endNs }) => endNs > span.startNs).slice(-ingestLimits.otlpRunningSpans);
    if (span.parentSpanId === "") span.parentSpanId = enclosing(running, span)?.spanId ?? "";
    running.push(span);
  }
}

/**
 * In JavaScript a span starts at a whole millisecond and ends by its exact duration after that: a parent may appear to
 * end up to this much before its child.
 */
const endSlackNs = 1_000_000n;

/**
 * The span named in the path; otherwise one that ran the whole time; otherwise one that ended earlier by at most the
 * slack and covers at least half of the span.
 */
function enclosing(running: readonly OtlpSpan[], span: OtlpSpan): OtlpSpan | undefined {
  const parentName = asText(span.attributes.get("traceloop.entity.path"))?.split(".").at(-1);
  const named = running.findLast((other) => nameOf(other) === parentName && nameOf(other) !== nameOf(span));
  const isMostOfIt = (other: OtlpSpan): boolean =>
    other.endNs + endSlackNs >= span.endNs && 2n * (other.endNs - span.startNs) >= span.endNs - span.startNs;
  return named ?? running.findLast(({ endNs }) => endNs >= span.endNs) ?? running.findLast(isMostOfIt);
}

function nameOf({ attributes }: OtlpSpan): string | undefined {
  return asText(attributes.get("traceloop.entity.name"));
}

function byStartThenLongest(a: OtlpSpan, b: OtlpSpan): number {
  if (a.startNs !== b.startNs) return a.startNs < b.startNs ? -1 : 1;
  return a.endNs === b.endNs ? 0 : a.endNs > b.endNs ? -1 : 1;
}
