import { describe, expect, test } from "vitest";
import { domainLimits } from "../../domain/limits.ts";
import { createPriceBook } from "../../pricing/price-book.ts";
import { createNestedJson } from "../../validation/field-readers.ts";
import { normalizeSpan } from "./normalize.ts";

const prices = createPriceBook({ maxModels: 100 });
const origin = {
  organization_id: "o",
  environment: "prod" as const,
  organization_key_id: "k",
  organization_key_name: "k",
  log_method: "logging_api",
};
const nested = createNestedJson(domainLimits.bodyNodes);

function rowOf(body: Record<string, unknown>) {
  const result = normalizeSpan(body, origin, { receivedNs: 1n, prices, nested });
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.span.row;
}

const question = { role: "user", content: "Weather in Paris?" };
const call = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "get_weather",
  arguments: '{"city":"Paris"}',
};
const result = { type: "function_call_output", call_id: "call_1", output: '{"temp":22}' };
const thought = { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Look it up." }] };
const expected = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "22 degrees.", annotations: [] }],
};
const calls = [{ id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } }];

describe("S4: items of the Responses API in created spans", () => {
  test.each<[name: string, wrap: (items: unknown[]) => unknown]>([
    ["as lists", (items) => items],
    ["as JSON text", (items) => JSON.stringify(items)],
  ])("%s become messages and calls", (_name, wrap) => {
    const input = wrap([question, thought, call, result]);
    const row = rowOf({ log_type: "response", input, output: wrap([thought, call]) });
    expect(row.prompt_messages).toEqual([
      question,
      { role: "assistant", content: "", reasoning_content: "Look it up." },
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", tool_call_id: "call_1", content: '{"temp":22}' },
    ]);
    expect(row.completion_message).toEqual({
      role: "assistant",
      content: null,
      reasoning_content: "Look it up.",
      tool_calls: calls,
    });
    expect(row).toMatchObject({ tool_calls: calls, input });
  });

  test("whole bodies of request and response are read as well", () => {
    const input = { model: "gpt-5-mini", input: "Weather?", tools: [{ type: "function", name: "get_weather" }] };
    const row = rowOf({ log_type: "response", input, output: { object: "response", output: [expected] } });
    expect(row.prompt_messages).toEqual([{ role: "user", content: "Weather?" }]);
    expect(row.completion_message).toEqual({ role: "assistant", content: "22 degrees." });
    expect(row.tools).toEqual([{ type: "function", function: { name: "get_weather" } }]);
  });

  test("calls beside the messages become tool calls", () => {
    const row = rowOf({ log_type: "text", prompt_messages: [question], tool_calls: [call] });
    expect(row.tool_calls).toEqual(calls);
  });

  test("messages in the body are kept", () => {
    const message = { role: "assistant", content: "Mine." };
    const row = rowOf({
      log_type: "response",
      prompt_messages: [question],
      input: [call],
      output: [call],
      completion_message: message,
    });
    expect(row).toMatchObject({ prompt_messages: [question], completion_message: message });
  });

  test.each(["hello", [], {}, [1, 2], [{ a: 1 }], "[not json", "{}", 5, "[".repeat(2000) + "]".repeat(2000)])(
    "a value without items stays input and output unchanged: %j",
    (given) => {
      const row = rowOf({ log_type: "response", input: given, output: given });
      expect([row.prompt_messages, row.completion_message]).toEqual([undefined, undefined]);
      expect([row.input, row.output]).toEqual([given, given]);
    },
  );

  test("spans of other kinds keep their items", () => {
    const row = rowOf({
      log_type: "tool",
      input: [question],
      output: [expected],
      full_response: { output: [expected] },
    });
    expect([row.prompt_messages, row.completion_message]).toEqual([undefined, undefined]);
  });
});

describe("S4: the whole response of the provider", () => {
  const usage = {
    input_tokens: 120,
    input_tokens_details: { cached_tokens: 64 },
    output_tokens: 30,
    output_tokens_details: { reasoning_tokens: 12 },
    total_tokens: 150,
  };
  const response = { id: "resp_1", object: "response", output: [thought, call], usage };

  test("supplies the usage that the body omits", () => {
    const counts = { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 };
    const parts = { prompt_cache_hit_tokens: 64, reasoning_tokens: 12 };
    const model = "gpt-4o-mini";
    expect(rowOf({ log_type: "text", model, full_response: response })).toMatchObject({ ...counts, ...parts });
    const stated = rowOf({
      log_type: "text",
      model,
      prompt_tokens: 120,
      completion_tokens: 30,
      full_response: response,
    });
    expect(stated).toMatchObject({ ...counts, ...parts });
    expect(stated.cost).toBeCloseTo(31.2e-6, 12);
    const own = { prompt_tokens: 7, completion_tokens: 1 };
    expect(rowOf({ model, usage: own, full_response: response })).toMatchObject({ ...own, total_tokens: 8 });
    const google = { usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 } };
    expect(rowOf({ model, full_response: google })).toMatchObject({ prompt_tokens: 9, completion_tokens: 3 });
  });

  test("supplies the response of a call without output", () => {
    const answer = { role: "assistant", content: null, reasoning_content: "Look it up.", tool_calls: calls };
    expect(rowOf({ log_type: "text", full_response: response }).completion_message).toEqual(answer);
    expect(rowOf({ log_type: "text", output: "x", full_response: response }).completion_message).toBeUndefined();
    expect(rowOf({ log_type: "text", full_response: response, disable_log: true }).completion_message).toBeUndefined();
  });

  test.each(["text", [], { usage: "x" }, { usage: null, usageMetadata: [] }])(
    "a value that is not a response is ignored: %j",
    (full_response) => {
      const row = rowOf({ log_type: "chat", model: "gpt-4o-mini", full_response });
      expect([row.prompt_tokens, row.completion_message, row.cost]).toEqual([undefined, undefined, undefined]);
    },
  );
});
