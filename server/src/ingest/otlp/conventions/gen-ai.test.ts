import { describe, expect, test } from "vitest";
import { mapped } from "../map-span.fixture.ts";

describe("counts that an instrumentation made itself are marked", () => {
  const usage = { "gen_ai.usage.input_tokens": 13, "gen_ai.usage.output_tokens": 12 };
  const scope = "@traceloop/instrumentation-openai";

  test.each([
    ["of a stream that says so", { "gen_ai.operation.name": "chat", "gen_ai.request.stream": true }, true],
    ["of a stream in older words", { "gen_ai.operation.name": "chat", "llm.is_streaming": true }, true],
    ["of images", { "gen_ai.operation.name": "image_generation" }, true],
    ["not where the model said them", { "gen_ai.operation.name": "chat" }, undefined],
    ["not where a stream says that it is none", { "gen_ai.request.stream": false }, undefined],
  ])("%s", (_name, attributes, expected) => {
    expect(mapped({ ...attributes, ...usage }, { scope })["usage_is_estimated"]).toBe(expected);
  });

  test("not those of other instrumentations, which pass on what the model said", () => {
    const body = mapped({ "gen_ai.request.stream": true, ...usage }, { scope: "openlit" });
    expect(body).not.toHaveProperty("usage_is_estimated");
  });
});
