import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bodyOf, createSpan, roundTrip, settle, storeSpans, summarize } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  prod = app.prod;
});
afterAll(() => app.stop());

const model = "claude-sonnet-4-5";
/** USD per million tokens of that model, below its long-context tier. */
const usd = { fresh: 3, read: 0.3, write: 3.75, output: 15 };

type Buckets = { fresh: number; read: number; write: number; output: number };

const costOf = ({ fresh, read, write, output }: Buckets): number =>
  (fresh * usd.fresh + read * usd.read + write * usd.write + output * usd.output) / 1e6;

/** Expects that the span's usage consists of these buckets, each token in one of them. */
const expectBuckets = (span: Row, buckets: Buckets): void => {
  const input = buckets.fresh + buckets.read + buckets.write;
  expect(span).toMatchObject({
    prompt_tokens: input,
    completion_tokens: buckets.output,
    total_tokens: input + buckets.output,
    prompt_cache_hit_tokens: buckets.read || span["prompt_cache_hit_tokens"],
    prompt_cache_creation_tokens: buckets.write || span["prompt_cache_creation_tokens"],
  });
  expect(span["cost"]).toBeCloseTo(costOf(buckets), 10);
};

describe("cached input counts once, whether the input count includes it or not", () => {
  const inclusive: Buckets = { fresh: 5, read: 128_955, write: 1253, output: 500 };
  test.each<[string, Row]>([
    [
      "own fields",
      {
        prompt_tokens: 130_213,
        prompt_cache_hit_tokens: 128_955,
        prompt_cache_creation_tokens: 1253,
        completion_tokens: 500,
      },
    ],
    [
      "own fields with a total",
      {
        prompt_tokens: 130_213,
        prompt_cache_hit_tokens: 128_955,
        prompt_cache_creation_tokens: 1253,
        completion_tokens: 500,
        total_tokens: 130_713,
      },
    ],
    [
      "a usage object of OpenAI",
      {
        usage: {
          prompt_tokens: 130_213,
          completion_tokens: 500,
          total_tokens: 130_713,
          prompt_tokens_details: { cached_tokens: 128_955, cache_creation_tokens: 1253 },
        },
      },
    ],
    [
      "a usage object of the Responses API",
      {
        usage: {
          input_tokens: 130_213,
          output_tokens: 500,
          total_tokens: 130_713,
          input_tokens_details: { cached_tokens: 128_955, cache_creation_tokens: 1253 },
        },
      },
    ],
    [
      "a usage object of Anthropic",
      {
        usage: {
          input_tokens: 5,
          cache_read_input_tokens: 128_955,
          cache_creation_input_tokens: 1253,
          output_tokens: 500,
        },
      },
    ],
  ])("%s", async (_name, usage) => {
    expectBuckets(await roundTrip(prod, { model, log_type: "chat", ...usage }), inclusive);
  });

  test.each<[string, Row, Buckets]>([
    [
      "the total says exclusive",
      { prompt_tokens: 5000, prompt_cache_hit_tokens: 1000, completion_tokens: 100, total_tokens: 6100 },
      { fresh: 5000, read: 1000, write: 0, output: 100 },
    ],
    [
      "the total says inclusive",
      { prompt_tokens: 5000, prompt_cache_hit_tokens: 1000, completion_tokens: 100, total_tokens: 5100 },
      { fresh: 4000, read: 1000, write: 0, output: 100 },
    ],
    [
      "more was cached than the input holds",
      { prompt_tokens: 4, prompt_cache_hit_tokens: 35_000, completion_tokens: 10 },
      { fresh: 4, read: 35_000, write: 0, output: 10 },
    ],
    [
      "no fresh input at all",
      { prompt_tokens: 0, prompt_cache_hit_tokens: 1000, completion_tokens: 10 },
      { fresh: 0, read: 1000, write: 0, output: 10 },
    ],
    [
      "everything cached, inclusive",
      { prompt_tokens: 1000, prompt_cache_hit_tokens: 1000, completion_tokens: 10, total_tokens: 1010 },
      { fresh: 0, read: 1000, write: 0, output: 10 },
    ],
    [
      "the total is the sum of all four",
      {
        prompt_tokens: 4299,
        completion_tokens: 631,
        prompt_cache_hit_tokens: 35_574,
        prompt_cache_creation_tokens: 17_787,
        total_tokens: 58_291,
      },
      { fresh: 4299, read: 35_574, write: 17_787, output: 631 },
    ],
    [
      "the output is the stated output, not the total minus the input",
      {
        prompt_tokens: 3,
        completion_tokens: 442,
        prompt_cache_hit_tokens: 7917,
        prompt_cache_creation_tokens: 350,
        total_tokens: 8712,
      },
      { fresh: 3, read: 7917, write: 350, output: 442 },
    ],
  ])("%s", async (_name, usage, buckets) => {
    expectBuckets(await roundTrip(prod, { model, log_type: "chat", ...usage }), buckets);
  });

  test("no combination of counts gives a negative number or a total below its parts", async () => {
    const { prod: own } = await app.newOrganization();
    const sizes = [0, 1, 500, 40_000];
    const logs = sizes.flatMap((prompt) =>
      sizes.flatMap((read) =>
        sizes.flatMap((output) =>
          [undefined, prompt + output, prompt + read + output, 7].map((total) => ({
            model,
            log_type: "chat",
            prompt_tokens: prompt,
            prompt_cache_hit_tokens: read,
            completion_tokens: output,
            ...(total !== undefined && { total_tokens: total }),
          })),
        ),
      ),
    );
    await storeSpans(own, logs);
    const { results } = await own.list({ log_type: "chat" }, { page_size: "1000" });
    expect(results).toHaveLength(logs.length);
    for (const span of results) {
      const [input, read, output, total, cost] = [
        "prompt_tokens",
        "prompt_cache_hit_tokens",
        "completion_tokens",
        "total_tokens",
        "cost",
      ].map((name) => Number(span[name]));
      expect(input).toBeGreaterThanOrEqual(read!);
      expect(total).toBe(input! + output!);
      expect(cost).toBeCloseTo(costOf({ fresh: input! - read!, read: read!, write: 0, output: output! }), 9);
    }
  });
});

test("a usage that names its tier, or searches, costs what its provider charges for these", async () => {
  const usage = { input_tokens: 1000, cache_read_input_tokens: 0, output_tokens: 100 };
  const tokensUsd = costOf({ fresh: 1000, read: 0, write: 0, output: 100 });
  const cost = async (members: Row) => (await roundTrip(prod, { model, usage: { ...usage, ...members } }))["cost"];
  expect(await cost({ service_tier: "standard" })).toBeCloseTo(tokensUsd, 12);
  expect(await cost({ service_tier: "batch" })).toBeCloseTo(tokensUsd / 2, 12);
  const fast = { model: "claude-opus-5", usage: { ...usage, service_tier: "standard", speed: "fast" } };
  expect((await roundTrip(prod, fast))["cost"]).toBeCloseTo((1000 * 10 + 100 * 50) / 1e6, 12);
  const searched = { server_tool_use: { web_search_requests: 3, web_fetch_requests: 1 } };
  expect(await cost(searched)).toBeCloseTo(tokensUsd + 0.03, 12);
  // Then only the figures of a usage are stored; its price does not change.
  const hidden = await roundTrip(prod, { model, usage: { ...usage, service_tier: "batch" }, disable_log: true });
  expect(hidden["cost"]).toBeCloseTo(tokensUsd / 2, 12);
});

describe("a usage with the provider's charge costs that, whatever the table says", () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
  const ofTable = 0.0045;
  const priced = (members: Row, span: Row = {}) => roundTrip(prod, { model, ...span, usage: { ...usage, ...members } });

  test.each<[who: string, members: Row, cost: number]>([
    ["xAI, in ticks", { cost_in_usd_ticks: 37_756_000 }, 0.0037756],
    ["OpenRouter", { cost: 0.00014, is_byok: false, cost_details: { upstream_inference_cost: 0.5 } }, 0.00014],
    [
      "OpenRouter with a key of one's own",
      { cost: 0.05, is_byok: true, cost_details: { upstream_inference_cost: 1 } },
      1.05,
    ],
    ["Perplexity", { cost: { input_tokens_cost: 0.001, request_cost: 0.005, total_cost: 0.006 } }, 0.006],
  ])("%s", async (_who, members, cost) => {
    const version = "stated by the provider";
    expect(await priced(members)).toMatchObject({ cost, cost_source: "computed", price_version: version });
    expect(await priced(members, { model: "our-own-7b" })).toMatchObject({ cost });
    expect(await priced(members, { cost: 3 })).toMatchObject({ cost: 3, cost_source: "stated" });
  });

  test.each<[Row]>([
    [{ cost: 0 }],
    [{ cost: -1 }],
    [{ cost: "0.5" }],
    [{ cost: 1e300 }],
    [{ cost: {} }],
    [{ cost_in_usd_ticks: null }],
    [{ cost_in_usd_ticks: -5 }],
  ])("%j states no charge", async (members) => {
    expect((await priced(members))["cost"]).toBeCloseTo(ofTable, 12);
  });
});

describe("unknown is not zero", () => {
  test("without usage there is neither usage nor cost", async () => {
    const cancelled = await roundTrip(prod, {
      model,
      log_type: "chat",
      stream: true,
      output: "three chu",
      status_code: 499,
    });
    expect(cancelled).toMatchObject({ prompt_tokens: null, completion_tokens: null, total_tokens: null, cost: null });
    for (const usage of [null, {}, { prompt_tokens: null }, { prompt_tokens: "many" }]) {
      expect(await roundTrip(prod, { model, usage })).toMatchObject({ total_tokens: null, cost: null });
    }
  });

  test("a model that is not in the table keeps its usage and has no cost", async () => {
    const span = { model: "our-own-7b", prompt_tokens: 10, completion_tokens: 5 };
    expect(await roundTrip(prod, span)).toMatchObject({ total_tokens: 15, cost: null });
  });

  test("stated zeros are zeros", async () => {
    const zero = { prompt_tokens: 0, completion_tokens: 0 };
    expect(await roundTrip(prod, { model, ...zero })).toMatchObject({ ...zero, total_tokens: 0, cost: 0 });
  });

  test("a stated cost is kept, also zero, whatever the table says", async () => {
    const usage = { prompt_tokens: 1000, completion_tokens: 1000 };
    for (const cost of [0, 0.5, 1e-9, 1234.5678]) {
      expect(await roundTrip(prod, { model, ...usage, cost })).toMatchObject({ cost, cost_source: "stated" });
    }
    expect(await createSpan(prod, { model, ...usage, cost: 0 })).toMatchObject({ cost: 0 });
  });

  test.each([-0.01, -1e308, "abc", "-1", "1.5 USD", true, {}, [], [1]])("a cost of %j is refused", async (cost) => {
    const answer = await prod.post("/api/request-logs/", { model, cost });
    expect(answer.status).toBe(422);
    expect(bodyOf(answer)["errors"]).toMatchObject({ cost: [expect.any(String)] });
  });

  test.each(["", null, "NaN", "Infinity", "-Infinity"])("a cost of %j counts as absent", async (cost) => {
    expect(await roundTrip(prod, { model: "our-own-7b", cost })).toMatchObject({ cost: null });
  });

  test("sums skip unknown values and state their number", async () => {
    const { prod: own } = await app.newOrganization();
    await storeSpans(own, [
      { log_type: "chat", model, cost: 0.25, prompt_tokens: 10, completion_tokens: 5 },
      { log_type: "chat", model: "our-own-7b", prompt_tokens: 1, completion_tokens: 1 },
      { log_type: "chat", model },
      { log_type: "chat", model, cost: 0 },
      { log_type: "tool" },
    ]);
    expect(await summarize(own, { log_type: { operator: "not", value: ["marker"] } })).toMatchObject({
      number_of_requests: 5,
      total_cost: 0.25,
      total_tokens: 17,
      unpriced_count: 2,
    });
  });

  test("the largest possible numbers do not break a sum", async () => {
    const { prod: own } = await app.newOrganization();
    const most = 1e12;
    const logs = Array.from({ length: 500 }, () => ({ prompt_tokens: most, completion_tokens: most, cost: most }));
    for (let i = 0; i < 3; i += 1) expect((await own.post("/api/request-logs/bulk/", { logs })).status).toBe(201);
    await settle(own);
    expect(await summarize(own, { log_type: "text" })).toMatchObject({
      number_of_requests: 1500,
      total_cost: 1500 * most,
      total_prompt_tokens: 1500 * most,
      total_tokens: 3000 * most,
    });
    const groups = await own.post("/api/request-logs/groups/?group_by=log_type&sort_by=-total_tokens", {});
    expect(groups.json).toMatchObject({ results: [{ log_type: "text", total_tokens: 3000 * most }] });
  });

  test.each([
    ["prompt_tokens", Number.MAX_SAFE_INTEGER],
    ["completion_tokens", 1e308],
    ["total_tokens", "99999999999999999999"],
    ["cost", 1e308],
    ["prompt_unit_price", 1e300],
  ])("a %s of %j, which would break sums, is refused", async (field, value) => {
    const answer = await prod.post("/api/request-logs/", { [field]: value });
    expect(answer.status).toBe(422);
    expect(Object.keys(bodyOf(answer)["errors"] as Row)).toEqual([field]);
  });
});
