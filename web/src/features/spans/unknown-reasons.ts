import { numberOf, textOf, type Span } from "./span-record.ts";

/** Why a figure of a span is unknown, in a sentence. */
export function whyNoCost(span: Span): string {
  const unpriced = textOf(span, "unpriced");
  const model = textOf(span, "model");
  if (model === undefined) return "No cost: the span names no model and states none.";
  if (unpriced !== undefined) return `No cost: there is no price for ${unpriced.replaceAll(",", ", ")} of ${model}.`;
  if (numberOf(span, "total_tokens") === undefined) return "No cost: the span states no usage.";
  return `No cost: there is no price of ${model}.`;
}

export function whyNoTokens(span: Span): string {
  return textOf(span, "model") === undefined
    ? "No tokens: the span is not a model call."
    : "No tokens: neither the sender nor the provider stated its usage.";
}
