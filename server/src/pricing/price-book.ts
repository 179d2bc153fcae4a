import type { Usage } from "../domain/usage.ts";
import { splitTokens, unitsOf, isUnit, tokenBuckets, type Bucket, type Rates } from "./buckets.ts";
import { findEntry, type Found } from "./find-entry.ts";
import { packagedTable } from "./genai-table.ts";
import type { PriceEntry, PriceTable } from "./price-entry.ts";
import { ReceiptWriter, versions, withoutNoise, type ReceiptText } from "./receipt.ts";
import { supplementTable } from "./supplement/table.ts";
import {
  adjustmentOfRegion,
  adjustmentOfTier,
  chargesSearchesOnce,
  completeRates,
  type Adjustment,
} from "./surcharges.ts";

/**
 * Computes the cost of a model call in USD, offline. A price is linear in the buckets of a usage, so each model's rates
 * are read from the tables once and a call costs a few multiplications.
 */
export type PriceBook = {
  price(call: PricedCall): Price;
  /** Compares a stated cost with that of the tables, for the receipt. */
  compare(statedUsd: number, call: PricedCall): Price;
};

export type PricedCall = {
  organizationId: string;
  model: string;
  provider: string;
  usage: Usage;
  /** End of the call, because prices change over time. Nanoseconds since the epoch. */
  timestampNs: bigint;
  /** USD per million tokens, stated by the caller; they take precedence over the table. */
  unitPrices?: { prompt: number | undefined; completion: number | undefined };
};

/**
 * `costUsd` is undefined if the model or the usage is unknown: unknown is not free. `version` names the table's release
 * and entry, for instance `genai-prices@0.1.8 openai/gpt-4o`; "" if there is no price. `unpriced` lists the counted
 * buckets without a price.
 */
export type Price = { costUsd: number | undefined; version: string; receipt: ReceiptText; unpriced: string };

/** Prices of an organization, or of the operator. They take precedence over the packaged tables. */
export type OwnPrices = {
  find(organizationId: string, model: string, provider: string, timestampNs: bigint): PriceEntry | undefined;
  /** Loaded tables, the newest first. */
  tables(): readonly PriceTable[];
  /** Rises when other tables are loaded. */
  revision(): number;
};

type Known = { found: Found; plans: Map<Rates, Map<string, RatePlan>> };

/** A stated cost that differs from the table's by at least this factor is marked as a probable mistake. */
const absurdly = 100;

export function createPriceBook({ maxModels, own }: { maxModels: number; own?: OwnPrices | undefined }): PriceBook {
  const packaged = [supplementTable(), packagedTable()];
  // By model, then provider: a combined key would have to be concatenated and hashed for each call.
  const known = new Map<string, Map<string, Known>>();
  const ownPlans = new WeakMap<PriceEntry, Known>();
  let size = 0;
  let revision = own?.revision() ?? 0;

  const knownOf = (model: string, provider: string): Known => {
    const before = known.get(model)?.get(provider);
    if (before !== undefined) return before;
    // Model names come from callers: clear the cache rather than grow without bound.
    if (size >= maxModels) clear();
    const found = findEntry([...(own?.tables() ?? []), ...packaged], model, provider);
    const entry: Known = { found, plans: new Map() };
    known.set(model, (known.get(model) ?? new Map<string, Known>()).set(provider, entry));
    size += 1;
    return entry;
  };
  const clear = (): void => {
    known.clear();
    size = 0;
  };

  const lookUp = ({ organizationId, model, provider, timestampNs }: PricedCall): Known => {
    if (own !== undefined) {
      if (own.revision() !== revision) {
        revision = own.revision();
        clear();
      }
      const entry = own.find(organizationId, model, provider, timestampNs);
      if (entry !== undefined) {
        const before = ownPlans.get(entry) ?? {
          found: { entry, isMakerAssumed: false, isModelAssumed: false },
          plans: new Map(),
        };
        ownPlans.set(entry, before);
        return before;
      }
    }
    return knownOf(model, provider);
  };

  const price = (call: PricedCall): Price => {
    const { usage, unitPrices } = call;
    if (unitPrices?.prompt !== undefined || unitPrices?.completion !== undefined)
      return byUnitPrices(usage, unitPrices);
    const { billedUsd } = usage;
    return billedUsd === undefined
      ? byTable(call, lookUp(call))
      : { ...beside(billedUsd, byTable(call, lookUp(call))), costUsd: billedUsd, version: versions.provider };
  };

  return { price, compare: (statedUsd, call) => beside(statedUsd, byTable(call, lookUp(call))) };
}

/** The receipt of a stated cost; it includes the table's cost, and marks a stated cost that is far from it. */
function beside(statedUsd: number, { costUsd: tableUsd }: Price): Price {
  const receipt = new ReceiptWriter();
  if (tableUsd !== undefined && tableUsd > 0 && statedUsd > 0) {
    const ratio = statedUsd / tableUsd;
    if (ratio >= absurdly || ratio <= 1 / absurdly) receipt.assume("absurd");
    receipt.tableCost(tableUsd);
  }
  return { costUsd: statedUsd, version: "", receipt: receipt.toString(), unpriced: "" };
}

function byUnitPrices(usage: Usage, { prompt, completion }: NonNullable<PricedCall["unitPrices"]>): Price {
  const receipt = new ReceiptWriter();
  const sides = [
    ["input", usage.input ?? 0, prompt],
    ["output", usage.output ?? 0, completion],
  ] as const;
  let costUsd: number | undefined = 0;
  for (const [bucket, tokens, rate] of sides) {
    if (tokens === 0) continue;
    if (rate === undefined) {
      receipt.unpriced(bucket, tokens, "no_rate");
      costUsd = undefined;
      continue;
    }
    receipt.line(bucket, tokens, `:${rate}`);
    if (costUsd !== undefined) costUsd += (tokens * rate) / 1e6;
  }
  noteUnplaced(usage, receipt);
  if (noteUnread(usage, receipt)) costUsd = undefined;
  return {
    costUsd: costUsd === undefined ? undefined : withoutNoise(costUsd),
    version: versions.unitPrices,
    receipt: receipt.toString(),
    unpriced: receipt.names,
  };
}

function noteUnplaced({ unplaced = 0 }: Usage, receipt: ReceiptWriter): void {
  if (unplaced > 0) receipt.unpriced("unplaced", unplaced, "no_place");
}

/** If one side was stated but is not a count, the other side alone must not pass for the whole. */
function noteUnread(usage: Usage, receipt: ReceiptWriter): boolean {
  if (usage.isUnread !== true) return false;
  receipt.unpriced(usage.input === undefined ? "input" : "output", 0, "no_count");
  return true;
}

function byTable({ usage, timestampNs }: PricedCall, { found, plans }: Known): Price {
  const receipt = new ReceiptWriter();
  if (found === "local") {
    receipt.assume("local");
    return { costUsd: 0, version: versions.local, receipt: receipt.toString(), unpriced: "" };
  }
  if (found === undefined) return withoutPrice(usage, receipt);
  const { entry, isMakerAssumed, isModelAssumed } = found;
  const ms = entry.periods.length > 1 ? Number(timestampNs / 1_000_000n) : 0;
  const rates = ratesAt(entry, ms, usage.input ?? 0);
  const plan = planOf(plans, entry, rates, usage);
  const costUsd = sum(usage, plan, receipt);
  plan.note(receipt);
  noteUnplaced(usage, receipt);
  if (isMakerAssumed) receipt.assume("maker");
  if (isModelAssumed) receipt.assume("snapshot");
  return {
    costUsd: costUsd === undefined ? undefined : withoutNoise(costUsd),
    version: plan.version,
    receipt: receipt.toString(),
    unpriced: receipt.names,
  };
}

export function ratesAt({ periods }: PriceEntry, ms: number, inputTokens: number): Rates {
  let period = periods[0];
  for (let i = periods.length - 1; i > 0; i -= 1) {
    const later = periods[i];
    if (later?.holdsAt(ms)) {
      period = later;
      break;
    }
  }
  const steps = period?.steps ?? [];
  let rates: Rates = {};
  for (const step of steps) if (inputTokens > step.above) rates = step.rates;
  return rates;
}

/** Tiers and regions come from callers: only this many plans are kept per rates. */
const cachedPlans = 16;

function planOf(plans: Known["plans"], entry: PriceEntry, rates: Rates, usage: Usage): RatePlan {
  const { serviceTier: tier = "", region = "" } = usage;
  let ofRates = plans.get(rates);
  if (ofRates === undefined) plans.set(rates, (ofRates = new Map()));
  const key = region === "" ? tier : `${tier}\n${region}`;
  let plan = ofRates.get(key);
  if (plan === undefined) {
    plan = planRates(entry, rates, tier, region);
    if (ofRates.size < cachedPlans) ofRates.set(key, plan);
  }
  return plan;
}

function sum(usage: Usage, plan: RatePlan, receipt: ReceiptWriter): number | undefined {
  let costUsd = 0;
  let isKnown = true;
  const take = (bucket: Bucket, quantity: number): void => {
    const rate = plan.rates.get(bucket);
    if (rate === undefined) {
      receipt.unpriced(bucket, quantity, "no_rate");
      isKnown = false;
      return;
    }
    receipt.line(bucket, quantity, rate.tail);
    costUsd += quantity * rate.perUnit;
  };
  const isCounted = usage.input !== undefined || usage.output !== undefined;
  if (plan.hasTokenRates) {
    if (isCounted) splitTokens(usage, plan.pricesReasoning, take);
    else if (usage.total !== undefined) {
      receipt.unpriced("total", usage.total, "no_split");
      isKnown = false;
    }
  }
  let hasUnits = false;
  unitsOf(usage, (bucket, units) => {
    if (bucket === "web_search" && !plan.rates.has(bucket)) receipt.unpriced(bucket, units, "no_rate");
    if (!plan.rates.has(bucket)) return;
    const isOnce = bucket === "web_search" && plan.chargesSearchesOnce;
    if (isOnce) receipt.assume("one_search_fee");
    take(bucket, isOnce ? 1 : units);
    hasUnits = true;
  });
  if (plan.rates.has("request")) {
    take("request", 1);
    hasUnits = true;
  }
  if (!plan.hasTokenRates && !hasUnits) {
    receipt.unpriced("tokens", usage.total ?? 0, "no_units");
    isKnown = false;
  }
  if (plan.hasTokenRates && !isCounted && !hasUnits) isKnown = false;
  if (usage.isLifetimeUnknown === true && (usage.cacheWrite ?? 0) > 0) receipt.assume("lifetime");
  if (usage.isPlaceAssumed === true) receipt.assume("place");
  if (noteUnread(usage, receipt)) isKnown = false;
  return isKnown ? costUsd : undefined;
}

function withoutPrice(usage: Usage, receipt: ReceiptWriter): Price {
  const take = (bucket: string, quantity: number): void => receipt.unpriced(bucket, quantity, "no_price");
  if (usage.input === undefined && usage.output === undefined) take("total", usage.total ?? 0);
  else splitTokens(usage, false, take);
  unitsOf(usage, take);
  noteUnplaced(usage, receipt);
  return { costUsd: undefined, version: "", receipt: receipt.toString(), unpriced: receipt.names };
}

/**
 * The rates of one model for one tier and region, with their texts for receipts, so that a call costs a few
 * multiplications.
 */
type RatePlan = {
  /** Identifies the prices: the table's entry, and the tier. */
  version: string;
  rates: ReadonlyMap<Bucket, Rate>;
  pricesReasoning: boolean;
  hasTokenRates: boolean;
  chargesSearchesOnce: boolean;
  /** Adds to a receipt the factors of the rates, and the tier or region without a known price. */
  note: (receipt: ReceiptWriter) => void;
};

/** `tail` is the end of a line of a receipt. */
type Rate = { perUnit: number; tail: string };

function planRates(entry: PriceEntry, rates: Rates, tier: string, region: string): RatePlan {
  const { provider, model, isOwn = false } = entry;
  const standard = isOwn ? rates : completeRates(provider, model, rates);
  const ofTier = isOwn ? null : adjustmentOfTier(provider, model, tier);
  const ofRegion = region === "" || isOwn ? null : adjustmentOfRegion(provider, model, region);
  const adjustments = [ofTier, ofRegion].filter((one): one is Adjustment => one !== null && one !== undefined);
  const planned = new Map<Bucket, Rate>();
  for (const [name, rate] of Object.entries(standard)) {
    const bucket = name as Bucket;
    const factor = isUnit(bucket) ? 1 : factorOf(adjustments, bucket);
    const adjusted = withoutNoise(rate * factor);
    planned.set(bucket, { perUnit: isUnit(bucket) ? adjusted : adjusted / 1e6, tail: `:${adjusted}` });
  }
  return {
    version: ofTier ? `${entry.source} ${tier}` : entry.source,
    rates: planned,
    pricesReasoning: planned.has("output_reasoning"),
    hasTokenRates: tokenBuckets.some((bucket) => planned.has(bucket)),
    chargesSearchesOnce: !isOwn && chargesSearchesOnce(provider, model),
    note: (receipt) => {
      if (ofTier) receipt.adjusted("service_tier", tier, withoutNoise(ofTier.factor));
      else if (ofTier === undefined) receipt.unpriced(`service_tier%3A${encodeURIComponent(tier)}`, 1, "no_tier");
      if (ofRegion) receipt.adjusted("region", region, ofRegion.factor);
      else if (ofRegion === undefined) receipt.unpriced(`region%3A${encodeURIComponent(region)}`, 1, "no_region");
    },
  };
}

function factorOf(adjustments: readonly Adjustment[], bucket: Bucket): number {
  return adjustments.reduce((product, { factor, except }) => (except.includes(bucket) ? product : product * factor), 1);
}
