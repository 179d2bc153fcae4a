import { isUnit, type Bucket } from "./buckets.ts";
import { releaseDates } from "./genai-table.ts";

/**
 * How a cost was computed, as stored: short text that is cheap to write, without characters that JSON escapes. Sections
 * are separated by `|`, their items by `,`, and the parts of an item by `:`; free text in them is percent-encoded.
 *
 *   l input:25:2.5,output:17:10   lines: bucket, tokens or units, rate
 *   f service_tier:flex:0.5       factors of the rates above
 *   a lifetime                    assumptions
 *   u output_audio:350:no_rate    counts without a price
 *   t 0.0123                      the table's cost, beside a stated cost
 *   p 0.5:2026-11-29T10:00:00Z…   the cost before the span was repriced
 */
export type ReceiptText = string;

export const assumptions = {
  lifetime: "How long the cache keeps what was written is not stated: 5 minutes are assumed.",
  place: "A detail is larger than what it is a part of: it is assumed to be counted beside it.",
  maker: "Who served the model is not known: its maker's list price is assumed.",
  snapshot: "This snapshot has no price of its own: that of its model is assumed.",
  estimate: "The provider stated no usage: the tokens are an estimate by the length of the text.",
  cache_hit: "The response came from the cache: no provider was called.",
  local: "The model runs on the caller's own machine: it costs nothing.",
  absurd: "The stated cost differs from the price table by a factor of 100 or more.",
  one_search_fee: "The provider charges for searches once per response.",
} as const;

export type Assumption = keyof typeof assumptions;

export const reasons = {
  no_rate: "The price of this model has no rate for it.",
  no_price: "There is no price of this model at this provider.",
  no_units: "The model is paid by another unit, which was not counted.",
  no_tier: "The price of this service tier is not known: the standard rate was taken.",
  no_region: "The price of this region is not known: the standard rate was taken.",
  no_place: "The stated total includes tokens that are neither input nor output: the cost is without them.",
  no_split: "Input and output are not stated separately.",
  no_count: "What was stated is no count of tokens.",
} as const;

export type Reason = keyof typeof reasons;

/** Assembles a receipt, section by section in the order above. */
export class ReceiptWriter {
  #lines = "";
  #adjusted = "";
  #assumed = "";
  #unpriced = "";
  #names = "";
  #table = "";

  /** @param tail `:` and the rate as text */
  line(bucket: Bucket, quantity: number, tail: string): void {
    this.#lines += `${this.#lines === "" ? "l " : ","}${bucket}:${quantity}${tail}`;
  }

  adjusted(what: "service_tier" | "region", value: string, factor: number): void {
    this.#adjusted += `${this.#adjusted === "" ? "|f " : ","}${what}:${encodeURIComponent(value)}:${factor}`;
  }

  assume(assumption: Assumption): void {
    this.#assumed += `${this.#assumed === "" ? "|a " : ","}${assumption}`;
  }

  unpriced(what: string, quantity: number, reason: Reason): void {
    this.#unpriced += `${this.#unpriced === "" ? "|u " : ","}${what}:${quantity}:${reason}`;
    this.#names += `${this.#names === "" ? "" : ","}${what}`;
  }

  tableCost(costUsd: number): void {
    this.#table = `|t ${costUsd}`;
  }

  get names(): string {
    return this.#names;
  }

  toString(): ReceiptText {
    return this.#lines + this.#adjusted + this.#assumed + this.#unpriced + this.#table;
  }
}

/** The same receipt with one more assumption. */
export function assuming(receipt: ReceiptText, assumption: Assumption): ReceiptText {
  return `${receipt}|a ${assumption}`;
}

/** The number of earlier costs that a receipt keeps. */
const maxPrevious = 10;

/** The receipt of a repriced span, with its earlier costs, the last first. */
export function withPrevious(
  receipt: ReceiptText,
  before: { receipt: ReceiptText; costUsd: number | null; source: string; at: string },
): ReceiptText {
  const earlier = before.receipt.split("|").filter((section) => section.startsWith("p "));
  const last = `p ${before.costUsd ?? "null"}:${encodeURIComponent(before.source)}:${encodeURIComponent(before.at)}`;
  return [receipt, last, ...earlier.slice(0, maxPrevious - 1)].join("|");
}

export type CostDetails = {
  /** `date`: when a price was last changed, or a table was loaded or released. Null if unknown. */
  source: { kind: SourceKind; name: string | null; date: string | null };
  lines: Array<{ bucket: string; tokens?: number; units?: number; rate: number; amount: number }>;
  adjustments: Array<{ kind: string; value: string; factor: number }>;
  assumptions: string[];
  unpriced: Array<{ bucket: string; quantity: number; reason: string }>;
  table_cost?: number;
  previous?: Array<{ cost: number | null; price_version: string; repriced_at: string }>;
};

type SourceKind =
  | "price_table"
  | "own_price"
  | "instance_price"
  | "stated"
  | "stated_by_provider"
  | "stated_unit_prices"
  | "local"
  | "cache"
  | "none";

/** Undefined for a span without usage and cost. */
export function readReceipt(stored: ReceiptText, costSource: string, priceVersion: string): CostDetails | undefined {
  if (stored === "" && costSource === "") return undefined;
  const details: CostDetails = {
    source: sourceOf(costSource, priceVersion),
    lines: [],
    adjustments: [],
    assumptions: [],
    unpriced: [],
  };
  for (const section of stored.split("|")) {
    const items = section.slice(2).split(",");
    for (const item of items) if (item !== "") readItem(section[0] ?? "", item.split(":"), details);
  }
  return details;
}

function readItem(section: string, [first = "", second = "", third = ""]: string[], details: CostDetails): void {
  if (section === "l") {
    const [quantity, rate] = [Number(second), Number(third)];
    const unit = isUnit(first as Bucket);
    const amount = withoutNoise(unit ? quantity * rate : (quantity * rate) / 1e6);
    details.lines.push({ bucket: first, ...(unit ? { units: quantity } : { tokens: quantity }), rate, amount });
  } else if (section === "f") {
    details.adjustments.push({ kind: first, value: decodeURIComponent(second), factor: Number(third) });
  } else if (section === "a") details.assumptions.push(assumptions[first as Assumption] ?? first);
  else if (section === "u") {
    details.unpriced.push({
      bucket: decodeURIComponent(first),
      quantity: Number(second),
      reason: reasons[third as Reason] ?? third,
    });
  } else if (section === "t") details.table_cost = Number(first);
  else if (section === "p") {
    const cost = first === "null" ? null : Number(first);
    const previous = { cost, price_version: decodeURIComponent(second), repriced_at: decodeURIComponent(third) };
    (details.previous ??= []).push(previous);
  }
}

export const versions = {
  provider: "stated by the provider",
  unitPrices: "stated unit prices",
  cacheHit: "cache hit",
  local: "local provider",
  own: "own price ",
  instance: "instance price ",
} as const;

export const fixedSources: Readonly<Record<string, SourceKind>> = {
  "": "none",
  [versions.provider]: "stated_by_provider",
  [versions.unitPrices]: "stated_unit_prices",
  [versions.cacheHit]: "cache",
  [versions.local]: "local",
};

/** The provider in a price table whose rates a price used; undefined if the price has another source. */
export function sellerOf(version: string): string | undefined {
  const isOwn = version.startsWith(versions.own) || version.startsWith(versions.instance);
  return isOwn ? undefined : /^\S+ ([^/\s]+)\//.exec(version)?.[1];
}

function sourceOf(costSource: string, version: string): CostDetails["source"] {
  const kind = costSource === "stated" ? "stated" : fixedSources[version];
  if (kind !== undefined) return { kind, name: null, date: null };
  if (version.startsWith(versions.own)) return ownSource("own_price", version.slice(versions.own.length));
  if (version.startsWith(versions.instance)) {
    return ownSource("instance_price", version.slice(versions.instance.length));
  }
  const [table = ""] = version.split(" ", 1);
  return {
    kind: "price_table",
    name: version,
    date: releaseDates[table] ?? /@(\d{4}-\d\d-\d\d)$/.exec(table)?.[1] ?? null,
  };
}

/** `lab-1@2026-11-29` */
function ownSource(kind: SourceKind, text: string): CostDetails["source"] {
  return { kind, name: text.slice(0, -"@2026-11-29".length), date: text.slice(-"2026-11-29".length) };
}

/** Rounds to hide the error of adding doubles: $0.000075, not $0.00007500000000000001. */
export function withoutNoise(costUsd: number): number {
  return Number(costUsd.toPrecision(12));
}
