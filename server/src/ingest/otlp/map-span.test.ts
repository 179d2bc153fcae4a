import { describe, expect, test } from "vitest";
import { mapped, type Given } from "./map-span.fixture.ts";

describe.each(["svc", "respan", "keywordsai"])("the product's own keys as %s.*", (family) => {
  test("names of the SDKs", () => {
    const body = mapped({
      [`${family}.customer_params.customer_identifier`]: "cust-7",
      [`${family}.customer_params.email`]: "a@example.com",
      [`${family}.customer_params.name`]: "Ann",
      [`${family}.threads.thread_identifier`]: "thread-9",
      [`${family}.trace.trace_group_identifier`]: "grp-1",
      [`${family}.span_params.custom_identifier`]: "cid-1",
      [`${family}.evaluation_params.evaluation_identifier`]: "eval-1",
      [`${family}.entity.log_type`]: "agent",
      [`${family}.metadata.plan`]: '"pro"',
      [`${family}.metadata.n`]: "3",
      [`${family}.metadata.deep`]: '{"a":[1]}',
    });
    expect(body).toMatchObject({
      customer_identifier: "cust-7",
      customer_email: "a@example.com",
      customer_name: "Ann",
      thread_identifier: "thread-9",
      trace_group_identifier: "grp-1",
      custom_identifier: "cid-1",
      evaluation_identifier: "eval-1",
      log_type: "agent",
    });
    expect(body["metadata"]).toEqual({ plan: "pro", n: 3, deep: { a: [1] } });
  });

  test("names of the documentation", () => {
    const body = mapped({
      [`${family}.customer.identifier`]: "cust-7",
      [`${family}.thread.id`]: "thread-9",
      [`${family}.trace_group.id`]: "grp-1",
      [`${family}.metadata`]: '{"plan":"pro","n":3}',
      [`${family}.entity.log_type`]: "llm",
    });
    expect(body).toMatchObject({
      customer_identifier: "cust-7",
      thread_identifier: "thread-9",
      trace_group_identifier: "grp-1",
      log_type: "generation",
      metadata: { plan: "pro", n: 3 },
    });
  });

  test("a customer identifier that no path can contain does not fail the span", () => {
    const body = mapped({ [`${family}.customer.identifier`]: "list" });
    expect(body["customer_identifier"]).toBeUndefined();
    expect(body["metadata"]).toEqual({ [`${family}.customer.identifier`]: "list" });
  });
});

describe("tokens", () => {
  const usage = (attributes: Record<string, unknown>, given?: Given): unknown[] => {
    const body = mapped(attributes, given);
    return [
      "prompt_tokens",
      "completion_tokens",
      "total_tokens",
      "prompt_cache_hit_tokens",
      "prompt_cache_creation_tokens",
      "reasoning_tokens",
    ].map((name) => body[name]);
  };

  test("input that includes cached tokens", () => {
    const attributes = {
      "gen_ai.usage.input_tokens": 130213,
      "gen_ai.usage.output_tokens": 500,
      "gen_ai.usage.total_tokens": 130713,
      "gen_ai.usage.cache_read.input_tokens": 128955,
      "gen_ai.usage.cache_creation.input_tokens": 1253,
    };
    expect(usage(attributes)).toEqual([130213, 500, 130713, 128955, 1253, undefined]);
  });

  test.each([
    [
      "by its total",
      { input: 5000, output: 100, total: 6100, read: 1000 },
      [6000, 100, 6100, 1000, undefined, undefined],
    ],
    [
      "by more cached than input",
      { input: 4, output: 10, read: 35000 },
      [35004, 10, 35014, 35000, undefined, undefined],
    ],
    [
      "by four parts",
      { input: 4299, output: 631, total: 58291, read: 35574, write: 17787 },
      [57660, 631, 58291, 35574, 17787, undefined],
    ],
  ] as const)("input that excludes cached tokens, recognized %s", (_name, given, expected) => {
    const { input, output, read } = given;
    const attributes = {
      "gen_ai.usage.input_tokens": input,
      "gen_ai.usage.output_tokens": output,
      "gen_ai.usage.cache_read.input_tokens": read,
      ...("total" in given && { "gen_ai.usage.total_tokens": given.total }),
      ...("write" in given && { "gen_ai.usage.cache_creation.input_tokens": given.write }),
    };
    expect(usage(attributes)).toEqual(expected);
  });

  test("of an instrumentation that passes on Anthropic's counts, whatever its total", () => {
    const attributes = {
      "gen_ai.usage.input_tokens": 5000,
      "gen_ai.usage.output_tokens": 100,
      "gen_ai.usage.total_tokens": 5100,
      "gen_ai.usage.cache_read.input_tokens": 1000,
    };
    const given = { scope: "@traceloop/instrumentation-anthropic" };
    expect(usage(attributes, given)).toEqual([6000, 100, 6100, 1000, undefined, undefined]);
  });

  test("a count under two names is counted once, and both are removed from metadata", () => {
    const body = mapped({
      "gen_ai.usage.prompt_tokens": 57,
      "gen_ai.usage.input_tokens": 57,
      "gen_ai.usage.completion_tokens": 17,
      "gen_ai.usage.output_tokens": 17,
    });
    expect(body).toMatchObject({ prompt_tokens: 57, completion_tokens: 17, total_tokens: 74, metadata: {} });
  });

  test.each([
    ["text", "720", 720],
    ["a double", 720.0, 720],
    ["a boolean", true, undefined],
    ["negative", -1, undefined],
    ["a word", "many", undefined],
  ])("sent as %s", (_name, given, expected) => {
    expect(mapped({ "gen_ai.usage.input_tokens": given })["prompt_tokens"]).toBe(expected);
  });

  test("a cost of 0 with tokens is not a price", () => {
    expect(mapped({ "gen_ai.usage.cost": 0, "gen_ai.usage.input_tokens": 5 })["cost"]).toBeUndefined();
    expect(mapped({ "gen_ai.usage.cost": 0.25, "gen_ai.usage.input_tokens": 5 })["cost"]).toBe(0.25);
    expect(mapped({ "gen_ai.usage.input_cost": 0.25, "gen_ai.usage.output_cost": 0.5 })["cost"]).toBe(0.75);
  });
});
