import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSpan, listSpans, roundTrip, settle, storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const chat = { log_type: "chat" };

describe("metadata of every shape", () => {
  const spans: Record<string, Row> = {
    nested: { a: { b: 1 } },
    dotted: { "a.b": 2 },
    underscored: { a__b: 3 },
    ten: { n: 10 },
    nine: { n: "9" },
    text: { n: "nine" },
    big: { n: 12_345_678_901_234_567_890n.toString() },
    yes: { flag: true },
    no: { flag: false },
    absent: { flag: null, n: null },
    list: { tags: ["vip", "beta"] },
    quoted: { 'it\'s "100%" \\ ключ': "v" },
    secret: { _secret: "s3cret", shown: "yes" },
    empty: { e: "" },
  };
  let prod: TestClient;
  beforeAll(async () => {
    ({ prod } = await app.newOrganization());
    const logs = Object.entries(spans).map(([name, metadata]) => ({ ...chat, custom_identifier: name, metadata }));
    await storeSpans(prod, logs);
  });

  const found = async (filters: Row): Promise<string[]> => {
    const { results } = await listSpans(prod, { ...chat, ...filters }, "page_size=1000");
    return results.map((row) => String(row["custom_identifier"])).sort();
  };

  test("is returned as it was sent, except reserved keys", async () => {
    const { results } = await listSpans(prod, chat, "page_size=1000");
    for (const row of results) {
      const sent = spans[String(row["custom_identifier"])] ?? {};
      expect(row["metadata"]).toEqual(Object.fromEntries(Object.entries(sent).filter(([key]) => !key.startsWith("_"))));
    }
  });

  test.each<[string, unknown, string[]]>([
    ["metadata__a.b", 2, ["dotted"]],
    ["metadata__a__b", 3, ["underscored"]],
    ["metadata__a__b", 1, ["nested"]],
    ["metadata__a__b", 2, []],
    ["metadata__n", { operator: "gt", value: [9] }, ["ten"]],
    ["metadata__n", { operator: "gte", value: [9] }, ["nine", "ten"]],
    ["metadata__n", { operator: "lt", value: [10] }, ["nine"]],
    ["metadata__n", { operator: "lt", value: ["10"] }, ["nine"]],
    ["metadata__n", 10, ["ten"]],
    ["metadata__n", "10", ["ten"]],
    ["metadata__n", "nine", ["text"]],
    ["metadata__flag", true, ["yes"]],
    ["metadata__flag", "true", ["yes"]],
    ["metadata__flag", false, ["no"]],
    ["metadata__tags", { operator: "contains", value: ["vip"] }, ["list"]],
    ['metadata__it\'s "100%" \\ ключ', "v", ["quoted"]],
    ["metadata__shown", "yes", ["secret"]],
    ["metadata__%", "v", []],
  ])("%s = %j finds %j", async (field, condition, names) => {
    const expected =
      field === "metadata__n" && JSON.stringify(condition).includes('"gt') ? [...names, "big"].sort() : names;
    expect(await found({ [field]: condition })).toEqual(expected);
  });

  test("null and missing values are both absent", async () => {
    const absent = await found({ metadata__flag: { operator: "isnull", value: [true] } });
    expect(absent).toEqual(
      Object.keys(spans)
        .filter((name) => !["yes", "no"].includes(name))
        .sort(),
    );
  });

  test("reserved keys cannot be read, filtered, sorted or requested", async () => {
    for (const filters of [
      { metadata___secret: "s3cret" },
      { metadata___secret: { operator: "isnull", value: [false] } },
      { metadata___secret: { operator: "startswith", value: ["s"] } },
      { metadata: { operator: "contains", value: ["s3cret"] } },
      { metadata_reserved: { operator: "contains", value: ["s3cret"] } },
    ]) {
      const answer = await prod.post("/api/request-logs/list/", { filters: { ...chat, ...filters } });
      expect([400, 0]).toContain(answer.status === 200 ? (answer.json as { count: number }).count : answer.status);
    }
    const { results } = await listSpans(
      prod,
      { custom_identifier: "secret" },
      "include_fields=metadata,metadata_reserved,metadata_index",
    );
    expect(JSON.stringify(results)).not.toMatch(/s3cret|_secret/);
    const whole = await prod.get(`/api/request-logs/${String(results[0]?.["unique_id"])}/`);
    expect(whole.text).not.toMatch(/s3cret|_secret/);
  });

  test("keys that only look reserved are not, and nested ones are kept", async () => {
    const metadata = { "-_a": 1, a_: 2, " _b": 3, nested: { _c: 4 } };
    expect(await roundTrip(prod, { metadata })).toMatchObject({ metadata });
  });
});

describe("spans with ten thousand keys in total", () => {
  test("filter options are immediate and bounded, whatever keys there are", async () => {
    const { prod } = await app.newOrganization();
    const keysPerSpan = 1000;
    for (let part = 0; part < 10; part += 1) {
      const logs = Array.from({ length: 50 }, (_, i) => ({
        ...chat,
        metadata: Object.fromEntries(
          Array.from({ length: keysPerSpan }, (_, k) => [
            `key_${(part * keysPerSpan + ((i * 20 + k) % keysPerSpan)).toString()}`,
            i,
          ]),
        ),
      }));
      expect((await prod.post("/api/request-logs/bulk/", { logs })).json).toMatchObject({ success_count: 50 });
    }
    await settle(prod);
    const query = "/api/request-logs/list/?fetch_filters=true&page_size=1&include_fields=id";
    const plain = await prod.post(query, {});
    const began = performance.now();
    const answer = await prod.post(query, {});
    const ms = performance.now() - began;
    expect(plain.status).toBe(200);
    expect(answer.json).toMatchObject({
      count: 500,
      filters_data: { model: { metric: "model" } },
      current_filters: {},
    });
    // Options are the fixed fields: metadata may have any number of keys, and is filtered by name.
    expect(
      Object.keys((answer.json as { filters_data: Row }).filters_data).filter((name) => name.startsWith("metadata__")),
    ).toEqual([]);
    expect(answer.text.length).toBeLessThan(100_000);
    expect(ms).toBeLessThan(1000);
    const found = await prod.post("/api/request-logs/list/?page_size=1&include_fields=id", {
      filters: { metadata__key_9999: { operator: "isnull", value: [false] } },
    });
    expect(found.json).toMatchObject({ count: 50 });
  }, 60_000);

  test("beyond a thousand keys a span keeps all and filters by the first", async () => {
    const { prod } = await app.newOrganization();
    const metadata = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]));
    const { unique_id } = await createSpan(prod, { ...chat, metadata });
    await settle(prod);
    expect((await prod.get(`/api/request-logs/${String(unique_id)}/`)).json).toMatchObject({ metadata });
    expect((await listSpans(prod, { ...chat, metadata__k0: 0 })).count).toBe(1);
    expect((await listSpans(prod, { ...chat, metadata__k4999: 4999 })).count).toBe(0);
  });
});
