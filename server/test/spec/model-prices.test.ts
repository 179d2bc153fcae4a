import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { completion } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers } from "../support/scripted-upstream.ts";
import { bodyOf, retrieveSpan, roundTrip } from "../support/spans.ts";
import type { Row, TestClient } from "../support/test-client.ts";

/** Prices of an organization: `/api/model-prices/`. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const path = "/api/model-prices/";
const today = () => new Date().toISOString().slice(0, 10);

async function stated(client: TestClient, price: Row): Promise<Row> {
  const answer = await client.post(path, price);
  expect(answer).toMatchObject({ status: 201 });
  return bodyOf(answer);
}
const pathOf = (price: Row) => `${path}${String(price["id"])}/`;
const used = { prompt_tokens: 1_000_000, completion_tokens: 100_000 };
const costOf = async (client: TestClient, body: Row): Promise<unknown> =>
  (await roundTrip(client, { ...used, ...body }))["cost"];
const receiptOf = (span: Row) => span["cost_details"] as { source: Row; lines: Row[]; unpriced: Row[] };

describe("M14: an organization's price", () => {
  test("applies to models missing in the table, and its receipt names it and its date", async () => {
    const { prod } = await gateway.app.newOrganization();
    expect(await costOf(prod, { model: "lab-1", provider_id: "my-lab" })).toBeNull();
    const price = await stated(prod, { model: "lab-1", provider: "my-lab", rates: { input: 0.5, output: 2 } });
    expect(price).toEqual({
      id: expect.any(String),
      model: "lab-1",
      provider: "my-lab",
      rates: { input: 0.5, output: 2 },
      valid_from: null,
      valid_to: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const span = await roundTrip(prod, { ...used, model: "lab-1", provider_id: "my-lab" });
    expect(span["cost"]).toBeCloseTo(0.5 + 0.2, 9);
    expect(receiptOf(span).source).toEqual({ kind: "own_price", name: "my-lab/lab-1", date: today() });
  });

  test("takes precedence over the table in both environments, only for its organization", async () => {
    const [own, other] = [await gateway.app.newOrganization(), await gateway.app.newOrganization()];
    await stated(own.prod, { model: "gpt-4o", rates: { input: 1, output: 4 } });
    for (const client of [own.prod, own.test]) expect(await costOf(client, { model: "gpt-4o" })).toBeCloseTo(1.4, 9);
    expect(await costOf(other.prod, { model: "gpt-4o" })).toBeCloseTo(3.5, 9);
    expect((await other.prod.get(path)).json).toMatchObject({ count: 0, results: [] });
  });

  test("prices gateway calls, and local models", async () => {
    const { prod } = gateway.app;
    await stated(prod, { model: "gpt-4o-mini", provider: "openai", rates: { input: 3, output: 30 } });
    gateway.upstream.script(answers(200, completion({ usage: { ...used, total_tokens: 1_100_000 } })));
    const answer = await prod.post("/api/chat/completions", {
      model: "gpt-4o-mini",
      messages: [{ role: "user", content: "hi" }],
    });
    const called = await retrieveSpan(prod, answer.headers.get("x-spanway-log-id"));
    expect(called["cost"]).toBeCloseTo(6, 9);
    expect(receiptOf(called).source["kind"]).toBe("own_price");

    expect(await costOf(prod, { model: "qwen3:8b", provider_id: "ollama" })).toBe(0);
    await stated(prod, { model: "qwen3:*", provider: "ollama", rates: { input: 0.1, output: 0.1 } });
    expect(await costOf(prod, { model: "qwen3:8b", provider_id: "ollama" })).toBeCloseTo(0.11, 9);
  });

  test.each<[string, Row, Row, number]>([
    ["images", { image: 0.04 }, { usage_details: { images: 3 } }, 0.12],
    ["seconds of audio", { audio_second: 0.0001 }, { usage_details: { audio_seconds: 60 } }, 0.006],
    ["characters", { character: 0.00002 }, { usage_details: { characters: 500 } }, 0.01],
    ["pages", { page: 0.002 }, { usage_details: { pages: 4 } }, 0.008],
    ["searches", { input: 1, output: 1, web_search: 0.01 }, { ...used, usage_details: { web_searches: 2 } }, 1.12],
    ["requests", { request: 0.05 }, used, 0.05],
    [
      "written to a cache",
      { input: 1, cache_write_5m: 2, output: 1 },
      { prompt_tokens: 10, prompt_cache_creation_tokens: 4, completion_tokens: 0 },
      14e-6,
    ],
  ])("pays by %s", async (unit, rates, usage, cost) => {
    const { prod } = gateway.app;
    const model = `unit-${unit.replaceAll(" ", "-")}`;
    await stated(prod, { model, rates });
    expect((await roundTrip(prod, { model, ...usage }))["cost"]).toBeCloseTo(cost, 12);
  });

  test("leaves the cost null if it has no rate for a counted bucket", async () => {
    const { prod } = gateway.app;
    await stated(prod, { model: "no-cache", rates: { input: 1, output: 1 } });
    const span = await roundTrip(prod, { model: "no-cache", ...used, prompt_cache_hit_tokens: 10 });
    expect(span).toMatchObject({ cost: null, unpriced: "cache_read" });
  });

  test("is valid from its first moment to before its last", async () => {
    const { prod } = await gateway.app.newOrganization();
    const [rates, middle] = [{ input: 1, output: 0 }, "2026-03-01T00:00:00.000Z"];
    await stated(prod, { model: "m", rates, valid_to: middle });
    await stated(prod, { model: "m", rates: { input: 2, output: 0 }, valid_from: middle, valid_to: "2026-06-01" });
    const at = (timestamp: string) => costOf(prod, { model: "m", timestamp });
    expect(await at("2026-02-28T23:59:59.999Z")).toBe(1);
    expect(await at(middle)).toBe(2);
    expect(await at("2026-06-01T00:00:00Z")).toBeNull();
  });

  test("if several match, the most specific one applies", async () => {
    const { prod } = await gateway.app.newOrganization();
    const state = (model: string, input: number, provider = "") =>
      stated(prod, { model, provider, rates: { input, output: 0 } });
    await state("lab-*", 1);
    await state("lab-*-large", 2);
    await state("lab-*", 3, "aws");
    await state("lab-9-large", 4);
    const cost = (model: string, provider_id = "x") => costOf(prod, { model, provider_id });
    expect(await cost("lab-1")).toBe(1);
    expect(await cost("LAB-1")).toBe(1);
    expect(await cost("lab-1-large")).toBe(2);
    expect(await cost("lab-1", "bedrock")).toBe(3);
    expect(await cost("lab-9-large", "bedrock")).toBe(4);
    expect(await cost("a-lab-1")).toBeNull();
  });

  test("is found by all names that clients use for a provider and a model", async () => {
    const { prod } = await gateway.app.newOrganization();
    await stated(prod, { model: "gpt-4o", provider: "openai", rates: { input: 7, output: 0 } });
    expect(await costOf(prod, { model: "gpt-4o" })).toBe(7);
    expect(await costOf(prod, { model: "openai/gpt-4o" })).toBe(7);
    expect(await costOf(prod, { model: "gpt-4o", provider_id: "azure" })).toBeCloseTo(3.5, 9);
  });

  test("is used neither for a stated cost nor for stored spans", async () => {
    const { prod } = await gateway.app.newOrganization();
    const before = await roundTrip(prod, { ...used, model: "gpt-4o" });
    await stated(prod, { model: "gpt-4o", rates: { input: 1, output: 1 } });
    expect(await retrieveSpan(prod, before["unique_id"])).toMatchObject({ cost: before["cost"] });
    expect(await costOf(prod, { model: "gpt-4o", cost: 0.5 })).toBe(0.5);
  });
});

describe("M14: changing prices", () => {
  test("takes effect immediately: update, delete, create again", async () => {
    const { prod } = await gateway.app.newOrganization();
    const price = await stated(prod, { model: "m", rates: { input: 1, output: 0 } });
    const changed = await prod.request("PATCH", pathOf(price), { rates: { input: 2, output: 0 }, model: "n" });
    expect(changed).toMatchObject({
      status: 200,
      json: { ...price, model: "n", rates: { input: 2, output: 0 }, updated_at: expect.any(String) },
    });
    expect([await costOf(prod, { model: "m" }), await costOf(prod, { model: "n" })]).toEqual([null, 2]);
    expect((await prod.get(pathOf(price))).json).toEqual(changed.json);
    expect((await prod.request("DELETE", pathOf(price))).status).toBe(204);
    expect(await costOf(prod, { model: "n" })).toBeNull();
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const body = method === "PATCH" ? { provider: "x" } : undefined;
      expect((await prod.request(method, pathOf(price), body)).status).toBe(404);
    }
    await stated(prod, { model: "n", rates: { input: 3, output: 0 } });
    expect(await costOf(prod, { model: "n" })).toBe(3);
  });

  test("is audited with the previous price", async () => {
    const { prod } = gateway.app;
    const price = await stated(prod, { model: "audited", rates: { input: 1 } });
    const log = (await (await gateway.app.login()).get("/api/audit-log/?action=create_model_price")).json as {
      results: Row[];
    };
    const entry = log.results.find(({ target }) => target === price["id"]);
    expect(entry).toMatchObject({ action: "create_model_price", changes: { model: "audited", rates: { input: 1 } } });
  });

  test("lists by page, oldest first", async () => {
    const { prod } = await gateway.app.newOrganization();
    for (const model of ["a", "b", "c"]) await stated(prod, { model, rates: { input: 1 } });
    const { json } = await prod.get(`${path}?page_size=2&page=2`);
    expect(json).toMatchObject({ count: 3, next: null, results: [{ model: "c" }] });
  });

  test("a test key can read prices but not change them: they apply to prod too", async () => {
    const { prod, test: testKey } = await gateway.app.newOrganization();
    const price = await stated(prod, { model: "m", rates: { input: 1 } });
    expect((await testKey.get(pathOf(price))).status).toBe(200);
    expect((await testKey.post(path, { model: "x", rates: { input: 1 } })).status).toBe(403);
    expect((await testKey.request("DELETE", pathOf(price))).status).toBe(403);
  });
});

describe("M14: refuses", () => {
  const rates = { input: 1 };
  test.each<[string, Row, string]>([
    ["a negative rate", { model: "m", rates: { input: -1 } }, "rates.input"],
    ["a rate as text", { model: "m", rates: { input: "1" } }, "rates.input"],
    ["a rate that is no number", { model: "m", rates: { input: null } }, "rates.input"],
    ["a rate beyond all money", { model: "m", rates: { input: 1e300 } }, "rates.input"],
    ["an unknown bucket", { model: "m", rates: { tokens: 1 } }, "rates.tokens"],
    ["the prototype as a bucket", { model: "m", rates: JSON.parse('{"__proto__": 1}') as Row }, "rates"],
    ["no rate", { model: "m", rates: {} }, "rates"],
    ["rates as a list", { model: "m", rates: [1] }, "rates"],
    ["no model", { rates }, "model"],
    ["an empty model", { model: " ", rates }, "model"],
    ["a model of 10,000 letters", { model: "m".repeat(10_000), rates }, "model"],
    ["a NUL in the model", { model: "m\0", rates }, "model"],
    ["a pattern that fits everything", { model: "*", rates }, "model"],
    ["another one", { model: "*/*", rates }, "model"],
    ["a pattern made to be slow", { model: `${"*a".repeat(50)}*`, rates }, "model"],
    [
      "an end before the beginning",
      { model: "m", rates, valid_from: "2026-02-01", valid_to: "2026-01-01" },
      "valid_to",
    ],
    ["an end at the beginning", { model: "m", rates, valid_from: "2026-02-01", valid_to: "2026-02-01" }, "valid_to"],
    ["an invalid time", { model: "m", rates, valid_from: "yesterday" }, "valid_from"],
    ["a slip of the pen", { model: "m", rates, valid_untl: "2026-02-01" }, "valid_untl"],
  ])("%s", async (_name, body, field) => {
    const answer = await gateway.app.prod.post(path, body);
    expect(answer.status).toBe(400);
    expect(Object.keys((answer.json as { errors: Row }).errors)).toContain(field);
  });

  test("a number that is not JSON", async () => {
    expect((await gateway.app.prod.post(path, '{"model":"m","rates":{"input":NaN}}')).status).toBe(400);
    expect((await gateway.app.prod.post(path, '{"model":"m","rates":{"input":1e999}}')).status).toBe(400);
  });

  test("a change to a price that could not be created", async () => {
    const { prod } = await gateway.app.newOrganization();
    const price = await stated(prod, { model: "m*", provider: "x", rates, valid_from: "2026-02-01" });
    for (const change of [{ valid_to: "2026-01-01" }, { model: "*", provider: "" }, { rates: { input: -1 } }]) {
      expect((await prod.request("PATCH", pathOf(price), change)).status).toBe(400);
    }
    expect((await prod.get(pathOf(price))).json).toEqual(price);
  });

  test("a second price of the same model and time, however it is spelled", async () => {
    const { prod } = await gateway.app.newOrganization();
    const first = await stated(prod, { model: "m", rates, valid_from: "2026-02-01", valid_to: "2026-03-01" });
    const again = (price: Row) => prod.post(path, { model: "M", rates, ...price });
    for (const overlap of [
      {},
      { valid_from: "2026-02-15" },
      { valid_to: "2026-02-02" },
      { valid_from: "2026-02-10", valid_to: "2026-02-11" },
    ]) {
      const answer = await again(overlap);
      expect(answer.status).toBe(409);
      expect(answer.text).toContain(String(first["id"]));
    }
    expect((await again({ valid_to: "2026-02-01" })).status).toBe(201);
    const later = await again({ valid_from: "2026-03-01" });
    expect(later.status).toBe(201);
    expect((await prod.request("PATCH", pathOf(bodyOf(later)), { valid_from: "2026-02-20" })).status).toBe(409);
    expect((await again({ provider: "Bedrock" })).json).toMatchObject({ provider: "aws" });
    expect((await again({ provider: "aws" })).status).toBe(409);
  });

  test("concurrently too: one of two is created", async () => {
    const { prod } = await gateway.app.newOrganization();
    const both = await Promise.all([1, 2].map((input) => prod.post(path, { model: "m", rates: { input } })));
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
  });

  test("all models of another provider may have one price", async () => {
    const { prod } = await gateway.app.newOrganization();
    await stated(prod, { model: "*", provider: "vllm", rates: { request: 0.001 } });
    expect(await costOf(prod, { model: "anything", provider_id: "vllm" })).toBe(0.001);
    expect(await costOf(prod, { model: "anything" })).toBeNull();
  });
});
