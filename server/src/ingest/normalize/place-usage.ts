import type { PriceBook, Price } from "../../pricing/price-book.ts";
import { normalizeUsage, type RawUsage, type Usage } from "../../domain/usage.ts";
import { isObject } from "../../lib/json.ts";
import { readUsageDetails, usageDetailsOf } from "../../pricing/buckets.ts";
import { pricingLimits } from "../../pricing/limits.ts";
import { assuming, versions } from "../../pricing/receipt.ts";
import { readUsageMembers, tierOf } from "../../pricing/usage-object.ts";
import type { BodyValues, OpenRow } from "./body-values.ts";

/**
 * Reads the usage of a span body: its own fields first, then `usage_details`, then its `usage` object or that of its
 * `full_response`. The object itself is kept as sent.
 */
export function readUsage(values: BodyValues): Usage | undefined {
  const object = usageOfBody(values);
  const stated: RawUsage = object ? readUsageMembers(object) : {};
  const details = values.usage_details ? readUsageDetails(values.usage_details) : undefined;
  const raw: RawUsage = {
    ...stated,
    ...details,
    input: values.prompt_tokens ?? stated.input,
    output: values.completion_tokens ?? stated.output,
    total: values.total_tokens ?? stated.total,
    cacheRead: values.prompt_cache_hit_tokens ?? stated.cacheRead,
    cacheWrite: values.prompt_cache_creation_tokens ?? stated.cacheWrite,
    cacheWrite1h: values.cache_creation_1h_tokens ?? details?.cacheWrite1h ?? stated.cacheWrite1h,
    reasoning: values.reasoning_tokens ?? stated.reasoning,
    audioInput: values.audio_prompt_tokens ?? details?.audioInput ?? stated.audioInput,
    audioOutput: values.audio_completion_tokens ?? details?.audioOutput ?? stated.audioOutput,
    // The convention of the object applies only to the object's own count.
    convention:
      values.prompt_tokens === undefined || values.prompt_tokens === stated.input ? stated.convention : undefined,
  };
  return normalizeUsage(onlyTotal(raw, values.log_type));
}

/** Embeddings and rankings have no output tokens: some of their providers state only a total. */
function onlyTotal(raw: RawUsage, logType: string | undefined): RawUsage {
  if (raw.total === undefined || raw.input !== undefined || raw.output !== undefined) return raw;
  return logType === "embedding" || logType === "reranker" ? { ...raw, input: raw.total, output: 0 } : raw;
}

/**
 * The usage of a body: its own object, otherwise that of the provider's response. The service tier comes from the usage
 * object or the response around it; if neither names one, the tier in the request counts, if it names a specific one.
 */
function usageOfBody(values: BodyValues): Record<string, unknown> | undefined {
  const { usage: own, full_response, full_request } = values;
  const response = isObject(full_response) ? full_response : {};
  const usage = own ?? [response["usage"], response["usageMetadata"]].find(isObject);
  if (usage !== undefined && tierOf(usage) !== undefined) return usage;
  const requestTier = isObject(full_request) ? tierOf(full_request) : undefined;
  const tier = tierOf(response) ?? (requestTier === "auto" || requestTier === "default" ? undefined : requestTier);
  return tier === undefined ? usage : { ...usage, service_tier: tier };
}

/** The price of a span: the stated cost, or that of its usage. Undefined if it has neither. */
export function priceOf(
  values: BodyValues,
  organizationId: string,
  usage: Usage | undefined,
  { timestampNs, prices }: { timestampNs: bigint; prices: PriceBook },
): (Price & { source: "stated" | "computed" }) | undefined {
  const call = usage && {
    organizationId,
    model: values.model ?? "",
    provider: values.provider_id ?? "",
    usage,
    timestampNs,
    unitPrices: { prompt: values.prompt_unit_price, completion: values.completion_unit_price },
  };
  if (values.cost !== undefined) {
    const beside = call && prices.compare(values.cost, call);
    return { costUsd: values.cost, version: "", receipt: beside?.receipt ?? "", unpriced: "", source: "stated" };
  }
  if (values.cache_hit === true) {
    const receipt = assuming("", "cache_hit");
    return { costUsd: 0, version: versions.cacheHit, receipt, unpriced: "", source: "computed" };
  }
  if (!call) return undefined;
  const price = prices.price(call);
  const receipt = values.usage_is_estimated === true ? assuming(price.receipt, "estimate") : price.receipt;
  return { ...price, receipt, source: "computed" };
}

/** Fills the columns of usage and cost. */
export function placeUsage(
  row: OpenRow,
  values: BodyValues,
  usage: Usage | undefined,
  price: ReturnType<typeof priceOf>,
): void {
  if (price) {
    if (price.costUsd !== undefined) {
      row.cost = price.costUsd;
      row.cost_source = price.source;
    }
    if (price.version !== "") row.price_version = price.version;
    if (price.receipt !== "") row.cost_details = price.receipt;
    if (price.unpriced !== "") row.unpriced = decodeURIComponent(price.unpriced);
  }
  if (!usage) return;
  row.prompt_tokens = usage.input;
  row.completion_tokens = usage.output;
  row.total_tokens = usage.total;
  row.prompt_cache_hit_tokens = usage.cacheRead;
  row.prompt_cache_creation_tokens = usage.cacheWrite;
  row.reasoning_tokens = usage.reasoning;
  row.tokens_per_second ??= tokensPerSecond(usage.output, row.latency);
  // Tier and region of a `usage` object are kept in that object: only those of `usage_details` are added here.
  const { service_tier, region } = values.usage_details ?? {};
  const counts = usageDetailsOf(usage);
  if ((counts ?? service_tier ?? region) === undefined) return;
  const usage_details = { ...counts, service_tier, region };
  row.extra = { ...(row.extra as Record<string, unknown> | undefined), usage_details };
}

function tokensPerSecond(output: number | undefined, latency: number | null | undefined): number | undefined {
  const rate = output === undefined || !latency ? undefined : output / latency;
  return rate !== undefined && rate <= pricingLimits.countMax ? rate : undefined;
}
