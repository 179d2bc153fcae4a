import { readFileSync } from "node:fs";
import { normalizeUsage, type RawUsage } from "../server/src/domain/usage.ts";
import type { Bucket, Rates } from "../server/src/pricing/buckets.ts";
import { readPriceFile } from "../server/src/pricing/own/price-file.ts";
import { createPriceBook, ratesAt } from "../server/src/pricing/price-book.ts";
import { knownDifferences } from "./compare-prices/known-differences.ts";

/**
 * Compares the cost of calls by our price table with a second public table, LiteLLM's
 * `model_prices_and_context_window.json`, for the models of `compare-prices/models.txt`. Prints differences of more
 * than 1 % and gaps, and fails if one of them is neither in `compare-prices/known-differences.ts`, with the right
 * value, nor of a model in `compare-prices/unsettled.txt`.
 * node scripts/compare-prices.ts FILE
 */
const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error("usage: node scripts/compare-prices.ts model_prices_and_context_window.json");
  process.exit(2);
}
const { table: theirs } = readPriceFile(readFileSync(path, "utf8"), "litellm");
const models = linesOf("compare-prices/models.txt");
const unsettled = new Set(linesOf("compare-prices/unsettled.txt"));
const book = createPriceBook({ maxModels: models.length });
const atMs = Date.now();

/** Prompt sizes in tokens: small, and larger than the threshold of any price tier. */
const few = 1_000;
const sizes = [few, 600_000];

type Difference = { model: string; bucket: Bucket; isLong: boolean; ours: number | undefined; theirs: number };

const differences: Difference[] = [];
for (const model of models) {
  const [provider, name] = partsOf(model);
  const entry = theirs.find(provider, name);
  if (entry === undefined) console.log(`${model}: no longer in the second table`);
  else for (const size of sizes) differences.push(...compare(model, ratesAt(entry, atMs, size), size));
}

const open = differences.filter((difference) => !isKnown(difference));
for (const { model, bucket, isLong, ours, theirs } of open) {
  const here = ours === undefined ? "no price" : String(ours);
  console.log(`${model} ${bucket}${isLong ? ", long prompt" : ""}: ${here} here, ${theirs} there`);
}
const known = differences.length - open.length;
console.log(`${models.length} models: ${open.length} differences to look up, ${known} known ones`);
process.exitCode = open.length > 0 ? 1 : 0;

function linesOf(file: string): string[] {
  const lines = readFileSync(new URL(file, import.meta.url), "utf8").split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}

function partsOf(model: string): [provider: string, name: string] {
  const slash = model.indexOf("/");
  return [model.slice(0, slash), model.slice(slash + 1)];
}

/** Compares each bucket for which the second table has a rate and a call may be billed. */
function compare(model: string, rates: Rates, size: number): Difference[] {
  const [provider, name] = partsOf(model);
  return Object.entries(rates).flatMap(([key, theirs]): Difference[] => {
    const bucket = key as Bucket;
    // The second table lists 0 for buckets that are not charged separately.
    if (theirs === 0 || usageIn(bucket, size) === undefined) return [];
    const ours = rateOf(provider, name, bucket, size);
    const isSame = ours !== undefined && Math.abs(ours - theirs) <= theirs / 100;
    return isSame ? [] : [{ model, bucket, isLong: size > few, ours, theirs }];
  });
}

/** USD per million tokens, from the cost of additional tokens in this bucket, so that fees per call cancel out. */
function rateOf(provider: string, model: string, bucket: Bucket, size: number): number | undefined {
  const timestampNs = BigInt(atMs) * 1_000_000n;
  const [less, more] = [size, size + few].map((tokens) => {
    const usage = normalizeUsage(usageIn(bucket, tokens) ?? {});
    return usage && book.price({ organizationId: "", model, provider, usage, timestampNs }).costUsd;
  });
  return less === undefined || more === undefined ? undefined : Number((((more - less) / few) * 1e6).toPrecision(6));
}

/** A usage with this many tokens in one bucket and none elsewhere; undefined for buckets that are not compared. */
function usageIn(bucket: Bucket, size: number): RawUsage | undefined {
  const input = { input: size, output: 0, total: size };
  if (bucket === "input") return input;
  if (bucket === "cache_read") return { ...input, cacheRead: size };
  if (bucket === "cache_write_5m") return { ...input, cacheWrite5m: size };
  if (bucket === "cache_write_1h") return { ...input, cacheWrite1h: size };
  if (bucket === "input_audio") return { ...input, audioInput: size };
  // The price tier depends on the prompt, which has no tokens here.
  if (size > 2 * few) return undefined;
  const output = { input: 0, output: size, total: size };
  if (bucket === "output") return output;
  return bucket === "output_audio" ? { ...output, audioOutput: size } : undefined;
}

/** Whether our value was verified, or the model is listed as unsettled. */
function isKnown({ model, bucket, isLong, ours }: Difference): boolean {
  if (unsettled.has(model)) return true;
  return knownDifferences.some(
    (known) =>
      known.models.test(model) &&
      known.rates.some(([of, right]) => of === bucket && ours !== undefined && Math.abs(right - ours) <= right / 100) &&
      (known.isLong ?? isLong) === isLong,
  );
}
