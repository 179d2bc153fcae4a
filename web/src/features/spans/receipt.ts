import { isRecord } from "../../lib/exact-json.ts";
import { listOf, numberOf, recordOf, textOf, type Span } from "./span-record.ts";

export type ReceiptLine = { bucket: string; quantity: number; unit: "tokens" | "units"; rate: number; amount: number };
export type Unpriced = { bucket: string; quantity: number | undefined; reason: string };

/** How the cost of a span was computed. */
export type Receipt = {
  cost: number | undefined;
  /** The source of the prices, as text. */
  source: string;
  sourceDate: string | undefined;
  lines: ReceiptLine[];
  /** The sum of the lines; undefined if there are none. */
  sum: number | undefined;
  adjustments: Array<{ kind: string; value: string; factor: number }>;
  assumptions: string[];
  unpriced: Unpriced[];
  /** The cost by the price table, if the span stated another cost. */
  tableCost: number | undefined;
  previous: Array<{ cost: number | undefined; version: string; at: string }>;
};

const sources: Readonly<Record<string, string>> = {
  price_table: "Price table",
  own_price: "Own price",
  instance_price: "Price of this server",
  stated: "Stated by the sender",
  stated_by_provider: "Billed by the provider",
  stated_unit_prices: "Unit prices that the sender stated",
  local: "Own machine, free",
  cache: "Response cache, free",
  none: "No price",
};

/** Undefined for a span without usage and cost. */
export function readReceipt(span: Span): Receipt | undefined {
  const details = span["cost_details"];
  if (!isRecord(details)) return undefined;
  const source = recordOf(details, "source");
  const kind = sources[textOf(source, "kind") ?? "none"] ?? textOf(source, "kind") ?? "";
  const name = textOf(source, "name");
  const lines = records(details, "lines").map(readLine);
  return {
    cost: numberOf(span, "cost"),
    source: name === undefined ? kind : `${kind}: ${name}`,
    sourceDate: textOf(source, "date"),
    lines,
    sum: lines.length === 0 ? undefined : lines.reduce((sum, { amount }) => sum + amount, 0),
    adjustments: records(details, "adjustments").map((item) => ({
      kind: textOf(item, "kind") ?? "",
      value: textOf(item, "value") ?? "",
      factor: numberOf(item, "factor") ?? 1,
    })),
    assumptions: listOf(details, "assumptions").filter((item) => typeof item === "string"),
    unpriced: records(details, "unpriced").map((item) => ({
      bucket: textOf(item, "bucket") ?? "",
      quantity: numberOf(item, "quantity"),
      reason: textOf(item, "reason") ?? "",
    })),
    tableCost: numberOf(details, "table_cost"),
    previous: records(details, "previous").map((item) => ({
      cost: numberOf(item, "cost"),
      version: textOf(item, "price_version") ?? "",
      at: textOf(item, "repriced_at") ?? "",
    })),
  };
}

function readLine(line: Record<string, unknown>): ReceiptLine {
  const tokens = numberOf(line, "tokens");
  return {
    bucket: textOf(line, "bucket") ?? "",
    quantity: tokens ?? numberOf(line, "units") ?? 0,
    unit: tokens === undefined ? "units" : "tokens",
    rate: numberOf(line, "rate") ?? 0,
    amount: numberOf(line, "amount") ?? 0,
  };
}

const records = (value: Record<string, unknown>, member: string): Array<Record<string, unknown>> =>
  listOf(value, member).filter(isRecord);

/** `cache_write_5m`: `Cache write 5m`. */
export function bucketName(bucket: string): string {
  const words = bucket.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
