import { normalizeUsage, type RawUsage, type Usage } from "../domain/usage.ts";
import { isObject } from "../lib/json.ts";
import { parseTimeNs } from "../lib/time.ts";
import type { PriceBook } from "./price-book.ts";
import { assuming, readReceipt, versions, withPrevious } from "./receipt.ts";
import { readUsageDetails } from "./buckets.ts";
import { readUsageMembers } from "./usage-object.ts";

/** The columns of a stored span with its usage and cost. */
export const pricedColumns = [
  "model",
  "provider_id",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "prompt_cache_hit_tokens",
  "prompt_cache_creation_tokens",
  "reasoning_tokens",
  "cost",
  "cost_source",
  "price_version",
  "cost_details",
  "extra",
] as const;

/** As read from the store: `extra` is JSON text. */
export type PricedSpan = {
  timestamp: string;
  model?: string;
  provider_id?: string;
  prompt_tokens?: number | string | null;
  completion_tokens?: number | string | null;
  total_tokens?: number | string | null;
  prompt_cache_hit_tokens?: number | string | null;
  prompt_cache_creation_tokens?: number | string | null;
  reasoning_tokens?: number | string | null;
  cost?: number | null;
  cost_source?: string;
  price_version?: string;
  cost_details?: string;
  extra?: string;
};

export type NewPrice = { cost: number; price_version: string; cost_details: string; unpriced: string };

/** `stated`: the sender or provider stated the cost. `unpriced`: there is no price today either, so the cost stays. */
export type Repricing = { kind: "stated" | "unused" | "unpriced" | "same" } | { kind: "changed"; price: NewPrice };

/** Costs that were not computed from a price table. */
const statedVersions: ReadonlySet<string> = new Set([versions.provider, versions.unitPrices, versions.cacheHit]);

/**
 * Computes the cost of a stored span by today's price data, for the time at which it ended. The old cost stays in the
 * receipt.
 */
export function repriceSpan(
  prices: PriceBook,
  span: PricedSpan,
  { organizationId, at }: { organizationId: string; at: string },
): Repricing {
  const { cost = null, cost_source = "", price_version = "", cost_details = "" } = span;
  if (cost_source === "stated" || statedVersions.has(price_version)) return { kind: "stated" };
  const extra = parseExtra(span.extra);
  const usage = usageOf(span, extra);
  const timestampNs = parseTimeNs(span.timestamp);
  if (usage === undefined || timestampNs === undefined) return { kind: "unused" };
  const { model = "", provider_id: provider = "" } = span;
  const price = prices.price({ organizationId, model, provider, usage, timestampNs });
  if (price.costUsd === undefined) return { kind: "unpriced" };
  if (price.costUsd === cost) return { kind: "same" };
  const receipt = extra["usage_is_estimated"] === true ? assuming(price.receipt, "estimate") : price.receipt;
  return {
    kind: "changed",
    price: {
      cost: price.costUsd,
      price_version: price.version,
      cost_details: withPrevious(receipt, { receipt: cost_details, costUsd: cost, source: price_version, at }),
      unpriced: decodeURIComponent(price.unpriced),
    },
  };
}

function usageOf(span: PricedSpan, extra: Record<string, unknown>): Usage | undefined {
  const details = extra["usage_details"];
  const cacheWrite = countOf(span.prompt_cache_creation_tokens);
  const raw: RawUsage = {
    ...(isObject(details) ? readUsageDetails(details) : {}),
    input: countOf(span.prompt_tokens),
    output: countOf(span.completion_tokens),
    total: countOf(span.total_tokens),
    cacheRead: countOf(span.prompt_cache_hit_tokens),
    cacheWrite,
    reasoning: countOf(span.reasoning_tokens),
    // Columns store the cache inside the input, whatever the sender's convention was.
    convention: "inclusive",
  };
  const usage = normalizeUsage({ ...raw, ...placeOf(span, extra) });
  if (usage === undefined || cacheWrite === undefined) return usage;
  // Whether the lifetime was stated is not stored: the previous receipt shows it.
  const isLifetimeUnknown = usage.isLifetimeUnknown === true && !isLifetimeStated(span.cost_details ?? "");
  return { ...usage, isLifetimeUnknown };
}

function isLifetimeStated(receipt: string): boolean {
  const sections = receipt.split("|");
  const assumed = sections
    .filter((section) => section.startsWith("a "))
    .flatMap((section) => section.slice(2).split(","));
  return receipt.includes("cache_write_5m:") && !assumed.includes("lifetime");
}

/** The tier and the region that served the call: from the adjustments in the receipt, otherwise from the usage. */
function placeOf(
  { cost_details = "", cost_source = "", price_version = "" }: PricedSpan,
  extra: Record<string, unknown>,
): Pick<RawUsage, "serviceTier" | "region"> {
  const { usage, usage_details } = extra;
  const stated = isObject(usage) ? readUsageMembers(usage) : {};
  const details = isObject(usage_details) ? readUsageDetails(usage_details) : {};
  const receipt = readReceipt(cost_details, cost_source, price_version);
  const adjusted = (kind: string): string | undefined =>
    receipt?.adjustments.find((one) => one.kind === kind)?.value ??
    receipt?.unpriced.find(({ bucket }) => bucket.startsWith(`${kind}:`))?.bucket.slice(kind.length + 1);
  return {
    serviceTier: adjusted("service_tier") ?? stated.serviceTier ?? details.serviceTier,
    region: adjusted("region") ?? stated.region ?? details.region,
  };
}

function countOf(value: number | string | null | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

function parseExtra(text: string | undefined): Record<string, unknown> {
  if (text === undefined || text === "") return {};
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : {};
}
