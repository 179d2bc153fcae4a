import { productFamilies } from "../../domain/product-families.ts";
import { limits } from "../../limits.ts";
import { asText } from "./attribute-bag.ts";
import type { OtlpScope, OtlpSpan } from "./export-request.ts";

/** `@keywordsai/tracing`, `respan-tracing` … */
const productSdk = new RegExp(`^@?(?:${productFamilies.join("|")})[/_-]tracing`);

type Placed = { span: OtlpSpan; scope: OtlpScope };

/**
 * The product's own SDKs take the parent out of every decorated span, so that one trace has many roots. Where the
 * enclosing span is in the same export, it is put back: the innermost decorated span of the trace that was running all
 * the while, preferably the one that the span's path names.
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
    running = running.filter(({ endNs }) => endNs > span.startNs).slice(-limits.otlpRunningSpans);
    if (span.parentSpanId === "") span.parentSpanId = enclosing(running, span)?.spanId ?? "";
    running.push(span);
  }
}

/** A parent may end a moment before its child: their clocks are read one after the other. Its name tells for sure. */
function enclosing(running: readonly OtlpSpan[], span: OtlpSpan): OtlpSpan | undefined {
  const parentName = asText(span.attributes.get("traceloop.entity.path"))?.split(".").at(-1);
  const named = running.findLast((other) => nameOf(other) === parentName && nameOf(other) !== nameOf(span));
  return named ?? running.findLast(({ endNs }) => endNs >= span.endNs);
}

function nameOf({ attributes }: OtlpSpan): string | undefined {
  return asText(attributes.get("traceloop.entity.name"));
}

function byStartThenLongest(a: OtlpSpan, b: OtlpSpan): number {
  if (a.startNs !== b.startNs) return a.startNs < b.startNs ? -1 : 1;
  return a.endNs === b.endNs ? 0 : a.endNs > b.endNs ? -1 : 1;
}
