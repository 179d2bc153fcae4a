import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseFilters } from "./parse.ts";
import { createSpanCatalogue } from "./span-fields.ts";
import type { SpanTable } from "./span-table.fixture.ts";
import { openSpanTable } from "./span-table.fixture.ts";
import { toClickHouse } from "./to-clickhouse.ts";

const catalogue = createSpanCatalogue();
const compile = (filters: unknown, options?: Parameters<typeof toClickHouse>[2]) =>
  toClickHouse(parseFilters(filters, catalogue).filter, catalogue, options);

describe("the statement", () => {
  test("contains no text of the user", () => {
    const operator = fc.constantFrom(
      "",
      "not",
      "in",
      "iexact",
      "contains",
      "icontains",
      "startswith",
      "endswith",
      "gt",
    );
    const field = fc.constantFrom("model", "unique_id", "messages", "environment", "metadata__x", "scores__x");
    const hostile = fc.string({ unit: "binary" }).map((text) => `'"\`\\);--${text}`);
    fc.assert(
      fc.property(field, operator, hostile, hostile, (name, sent, value, key) => {
        const options = { operator: sent, value: [value] };
        const { sql } = compile({ [name]: options, [`metadata__${key}`]: options });
        expect(sql).not.toContain("--");
        expect(sql.replaceAll(/\{f\d+:[A-Z][A-Za-z0-9]*(?:\([^)]*\))?\}/g, "")).not.toContain("{");
      }),
    );
  });

  test("reports its columns, qualifies them and names its parameters as requested", () => {
    const { sql, params, columns } = compile(
      { customer_identifier: "a", metadata__plan: "a" },
      { table: "s", prefix: "q" },
    );
    expect(sql).toBe("((s.customer_identifier = {q0:String}) AND (s.metadata_index[{q1:String}] = {q0:String}))");
    expect(params).toEqual({ q0: "a", q1: "plan" });
    expect([...columns]).toEqual(["customer_identifier", "metadata_index"]);
  });

  test.each(["contains", "icontains", "iexact"])("searches for many needles at once: %s", (operator) => {
    const value = Array.from({ length: 1000 }, (_, i) => `${i} Wörter`);
    for (const field of ["model", "input", "metadata", "metadata__x"]) {
      const { sql } = compile({ [field]: { operator, value } });
      expect(sql.match(/match\(|position\(/g)?.length).toBeLessThan(20);
    }
  });

  test("matches every row without conditions", () => {
    expect(compile({})).toMatchObject({ sql: "1", params: {} });
  });
});

describe("skip indexes", () => {
  let table: SpanTable;
  const uuid = "00000000-0000-4000-8000-000000012345";

  beforeAll(async () => {
    table = await openSpanTable(catalogue);
    const bloom = (expression: string) => `INDEX i${counter++} ${expression} TYPE bloom_filter(0.001) GRANULARITY 1`;
    let counter = 0;
    const indexed = ["unique_id", "trace_unique_id", "thread_identifier", "customer_identifier"];
    const indexes = [...indexed, "mapKeys(metadata_index)", "mapValues(metadata_index)"].map(bloom).join(", ");
    await table.client.command({
      query: `CREATE TABLE indexed (number UInt64, unique_id UUID, trace_unique_id String, thread_identifier String, customer_identifier String,
        metadata_index Map(LowCardinality(String), String), ${indexes}) ENGINE = MergeTree ORDER BY number SETTINGS index_granularity = 1000`,
    });
    await table.client.command({
      query: `INSERT INTO indexed SELECT number, toUUID(concat('00000000-0000-4000-8000-', leftPad(toString(number), 12, '0'))),
        concat('t', toString(number)), concat('h', toString(number)), concat('c', toString(number)),
        map('tenant', concat('v', toString(number)), concat('group\\x1fname', ''), concat('g', toString(number)))
        FROM numbers(100000)`,
    });
  });
  afterAll(async () => {
    await table.close();
  });

  test.each<[string, unknown]>([
    ["an identifier", { customer_identifier: "c12345" }],
    ["several identifiers", { trace_unique_id: ["t1", "t2"] }],
    ["a span by id", { id: uuid }],
    [
      "a thread beside another condition",
      { thread_identifier: "h5", customer_identifier: { operator: "not", value: "x" } },
    ],
    ["a metadata value", { metadata__tenant: "v12345" }],
    ["a nested metadata value", { metadata__group__name: ["g12345", "g3"] }],
    ["a number of an unknown metadata key", { metadata__nope: { operator: "gt", value: 5 } }],
  ])("narrow %s", async (_name, filters) => {
    const { sql, params } = compile(filters);
    const result = await table.client.query({
      query: `EXPLAIN indexes = 1 SELECT count() FROM indexed WHERE ${sql}`,
      query_params: params,
      format: "JSONEachRow",
    });
    const plan = (await result.json<{ explain: string }>()).map((line) => line.explain);
    const granules = plan.flatMap((line) => /Granules: (\d+)\/\d+/.exec(line)?.[1] ?? []).map(Number);
    expect(Math.min(...granules)).toBeLessThan(10);
  });
});
