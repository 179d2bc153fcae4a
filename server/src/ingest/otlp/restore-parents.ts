import { productFamilies } from "../../domain/product-families.ts";
import { ingestLimits } from "../limits.ts";
import { asText } from "./attribute-bag.ts";
import type { OtlpScope, OtlpSpan } from "./export-request.ts";

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
