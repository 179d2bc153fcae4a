import { Session } from "chdb";
import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tokenBuckets, unitBuckets } from "../../../pricing/buckets.ts";
import {
  assumptions,
  fixedSources,
  readReceipt,
  reasons,
  ReceiptWriter,
  versions,
  withPrevious,
} from "../../../pricing/receipt.ts";
import { bindLiterals } from "../drivers/bind-literals.ts";
import { exportedReceipt } from "./exported-receipt.ts";

/** Our code reads receipts for responses, the engine reads them for exports: both must give the same result. */

let folder: string;
let session: Session;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "spanway-receipts-"));
  session = new Session(folder);
});
afterAll(() => {
  session.close();
  rmSync(folder, { recursive: true, force: true });
});

type Priced = { receipt: string; source: string; version: string };

async function exported(priced: readonly Priced[]): Promise<unknown[]> {
  const rows = "arrayZip({receipts:Array(String)}, {sources:Array(String)}, {versions:Array(String)})";
  const sql = `SELECT ${exportedReceipt} AS line FROM (SELECT row.1 AS cost_details, row.2 AS cost_source, row.3 AS price_version
    FROM (SELECT arrayJoin(${rows}) AS row))`;
  const params = {
    receipts: priced.map(({ receipt }) => receipt),
    sources: priced.map(({ source }) => source),
    versions: priced.map(({ version }) => version),
  };
  const result = await session.queryAsync(
    `${bindLiterals(sql, params)} SETTINGS output_format_json_escape_forward_slashes = 0`,
    {
      format: "JSONEachRow",
    },
  );
  const lines = result
    .text()
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => {
    const { line: text } = JSON.parse(line) as { line: string };
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  });
}

const text = fc.string({
  unit: fc.constantFrom("a", "Z", "7", " ", ":", ",", "|", "%", "@", "'", '"', "\\", "/", "ü", "🦊", "\n"),
  maxLength: 12,
});
/** Our code rounds numbers of thirteen or more digits that end in 5 up; the engine rounds them to even. */
const quantity = fc.oneof(fc.nat(1e9), fc.double({ min: 0, max: 1e9, noNaN: true }));
const rate = fc.oneof(fc.constantFrom(0, 2.5, 0.15, 1e-7, 75, 1e21), fc.double({ min: 0, max: 1e6, noNaN: true }));
const version = fc.oneof(
  fc.constantFrom(
    "",
    ...Object.keys(fixedSources),
    "genai-prices@0.1.8 openai/gpt-4o",
    "0.1.8 aws/nova",
    "litellm@2026-01-02 a/b",
    "x",
  ),
  text.map((name) => `${versions.own}${name}@2026-11-29`),
  text.map((name) => `${versions.instance}${name}@2026-11-29`),
);
const keysOf = <T extends object>(table: T) => fc.constantFrom(...(Object.keys(table) as (keyof T)[]));

const priced: fc.Arbitrary<Priced> = fc
  .record({
    lines: fc.array(fc.tuple(fc.constantFrom(...tokenBuckets, ...unitBuckets), quantity, rate), { maxLength: 4 }),
    adjusted: fc.array(fc.tuple(fc.constantFrom("service_tier" as const, "region" as const), text, rate), {
      maxLength: 2,
    }),
    assumed: fc.array(keysOf(assumptions), { maxLength: 2 }),
    unpriced: fc.array(fc.tuple(text.map(encodeURIComponent), quantity, keysOf(reasons)), { maxLength: 2 }),
    tableCost: fc.option(rate, { nil: undefined }),
    before: fc.array(
      fc.record({ costUsd: fc.option(rate), source: text, at: fc.constant("2026-11-29T10:00:00.000Z") }),
      { maxLength: 12 },
    ),
    source: fc.constantFrom("", "computed", "stated"),
    version,
  })
  .map(({ lines, adjusted, assumed, unpriced, tableCost, before, source, version: from }) => {
    const writer = new ReceiptWriter();
    for (const [bucket, tokens, price] of lines) writer.line(bucket, tokens, `:${price}`);
    for (const each of adjusted) writer.adjusted(...each);
    for (const each of assumed) writer.assume(each);
    for (const each of unpriced) writer.unpriced(...each);
    if (tableCost !== undefined) writer.tableCost(tableCost);
    const receipt = before.reduce(
      (earlier, each) => withPrevious(writer.toString(), { receipt: earlier, ...each }),
      writer.toString(),
    );
    return { receipt, source, version: from };
  });

test("an export has the same receipt as the retrieved span", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(priced, { minLength: 20, maxLength: 60 }), async (all) => {
      const read = all.map(({ receipt, source, version: from }) => readReceipt(receipt, source, from));
      expect(await exported(all)).toEqual(read);
    }),
    { numRuns: 30 },
  );
});
