import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { spanColumns, type ColumnKind, type SpanColumn } from "../../../domain/span.ts";
import { createSpanStore } from "../clickhouse-span-store.ts";
import { spanRow } from "../contract/span-fixtures.ts";
import { openEmbeddedDatabase } from "../drivers/embedded-database.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import { packedColumns } from "../migrations/0030-packed-columns.ts";
import { rawReader } from "../raw-span.ts";
import type { SpanStore } from "../span-store.ts";

const folder = mkdtempSync(join(tmpdir(), "spanway-packed-"));
let database: SpanDatabase;
let store: SpanStore;
beforeAll(async () => {
  database = openEmbeddedDatabase(folder);
  store = createSpanStore(database);
  await store.migrate();
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const text = fc.oneof(
  fc.constant(""),
  fc.string({ unit: "binary", maxLength: 12 }).map((value) => value.toWellFormed().replaceAll("\0", "")),
  fc.constantFrom('a"b\\c/d', "null", "[]", "é\u2028\u2029\n\t", "😀", " "),
);
const values: Record<ColumnKind, fc.Arbitrary<unknown>> = {
  text,
  json: text,
  uuid: fc.uuid(),
  map: fc.constant({}),
  time: fc.constantFrom("2026-04-01 09:59:59.000000001", "1999-12-31 23:59:59.999999999"),
  integer: fc.option(fc.oneof(fc.maxSafeInteger(), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(String))),
  number: fc.option(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(0, -0, 1e-7, 1e300))),
  boolean: fc.option(fc.boolean()),
};
const packed = fc.record(Object.fromEntries(packedColumns.map((column) => [column, values[spanColumns[column]]])));
const others = ["unique_id", "timestamp", "environment", "trace_unique_id"] as const satisfies readonly SpanColumn[];

describe("packed columns", () => {
  it("read the same together as each column alone", async () => {
    const property = fc.asyncProperty(fc.array(packed, { minLength: 1, maxLength: 20 }), async (rows) => {
      const [org, trace] = [`org_${randomUUID()}`, randomUUID()];
      const spans = rows.map((row) => spanRow(org, { ...row, trace_unique_id: trace, unique_id: randomUUID() }));
      const ndjson = Buffer.from(spans.map((span) => `${JSON.stringify(span)}\n`).join(""));
      await store.insert({ ndjson, rows: spans.length, token: randomUUID() });
      const scope = { organization_id: org };
      const keys = spans as never;
      const together = await store.hydrateSpans(scope, keys, [...others, ...packedColumns]);
      const columns = [...others, ...packedColumns];
      const raw = (await store.readSmallTrace({ scope, traceId: trace, columns })) ?? [];
      const ofTrace = new Map(
        raw.map(rawReader([...columns, "version", "is_deleted"], columns)).map((span) => [span.unique_id, span]),
      );
      const alone = await Promise.all(packedColumns.map((column) => store.hydrateSpans(scope, keys, [column])));
      for (const [index, span] of together.entries()) {
        const apart = Object.fromEntries(packedColumns.map((column, n) => [column, alone[n]?.[index]?.[column]]));
        expect(span).toMatchObject(apart);
        expect(ofTrace.get(span.unique_id)).toMatchObject(apart);
      }
      expect([together.length, ofTrace.size]).toEqual([spans.length, spans.length]);
    });
    await fc.assert(property, { numRuns: 15 });
  });

  it("are read from rows that were stored before packing", async () => {
    const org = "org_before";
    await database.execute({ name: "test", sql: "ALTER TABLE spans DROP COLUMN packed" });
    const row = spanRow(org, { customer_identifier: "c1", cost: 0.5, total_tokens: 7, is_pinned: null });
    await store.insert({ ndjson: Buffer.from(`${JSON.stringify(row)}\n`), rows: 1, token: randomUUID() });
    await database.execute({
      name: "test",
      sql: "ALTER TABLE span_migrations DELETE WHERE version = 30 SETTINGS mutations_sync = 2",
    });
    await store.migrate();
    const [span] = await store.hydrateSpans({ organization_id: org }, [row] as never, [...packedColumns]);
    expect(span).toMatchObject({ customer_identifier: "c1", cost: 0.5, total_tokens: 7, is_pinned: null });
  });
});
