import { describe, expect, test } from "vitest";
import { assistant, json, mapped, system, tool, user, weatherCall } from "../map-span.fixture.ts";

const observation = (members: Record<string, unknown>) =>
  mapped(
    Object.fromEntries(
      Object.entries({ type: "generation", ...members }).map(([name, value]) => [
        `langfuse.observation.${name}`,
        typeof value === "string" ? value : json(value),
      ]),
    ),
  );

const counted = {
  prompt_tokens: 57,
  completion_tokens: 17,
  total_tokens: 74,
  prompt_cache_hit_tokens: 32,
  reasoning_tokens: 5,
};

describe("usage of Langfuse", () => {
  test.each([
    [
      "OpenAI's own, with its details inside",
      {
        prompt_tokens: 57,
        completion_tokens: 17,
        total_tokens: 74,
        prompt_tokens_details: { cached_tokens: 32, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    ],
    [
      "that of the Responses API",
      {
        input_tokens: 57,
        output_tokens: 17,
        total_tokens: 74,
        input_tokens_details: { cached_tokens: 32 },
        output_tokens_details: { reasoning_tokens: 5 },
      },
    ],
    ["disjoint parts", { input: 25, output: 12, total: 74, input_cached_tokens: 32, output_reasoning_tokens: 5 }],
    [
      "LangChain's",
      { input: 25, output: 12, total: 74, input_cache_read: 32, output_reasoning: 5, input_priority: 57 },
    ],
  ])("%s", (_name, usage_details) => {
    expect(observation({ usage_details })).toMatchObject(counted);
  });

  test("parts by modality are added too", () => {
    const usage_details = { input: 0, output: 0, total: 15, input_modality_TEXT: 10, output_modality_TEXT: 5 };
    expect(observation({ usage_details })).toMatchObject({ prompt_tokens: 10, completion_tokens: 5 });
  });
});

describe("content in Langfuse", () => {
  test("a request of the Responses API with instructions and tools, and the items of its answer", () => {
    const body = observation({
      input: {
        input: { instructions: "Be brief.", input: "Weather?" },
        tools: [{ type: "function", name: "get_weather", description: "Weather", parameters: { type: "object" } }],
      },
      output: [
        { type: "reasoning", id: "r1", summary: [{ type: "summary_text", text: "hm" }] },
        { type: "function_call", call_id: "c1", name: "get_weather", arguments: '{"city":"Paris"}' },
      ],
    });
    expect(body).toMatchObject({
      log_type: "response",
      prompt_messages: [system("Be brief."), user("Weather?")],
      tools: [tool()],
    });
    expect(body["completion_message"]).toEqual({
      role: "assistant",
      content: null,
      reasoning_content: "hm",
      tool_calls: [weatherCall("c1")],
    });
  });

  test("calls and their results in the input", () => {
    const input = [
      user("Weather?"),
      { type: "function_call", call_id: "c1", name: "get_weather", arguments: '{"city":"Paris"}' },
      { type: "function_call_output", call_id: "c1", output: "18" },
    ];
    expect(observation({ input, output: "Sunny." })).toMatchObject({
      prompt_messages: [
        user("Weather?"),
        { role: "assistant", content: null, tool_calls: [weatherCall("c1")] },
        { role: "tool", tool_call_id: "c1", content: "18" },
      ],
      completion_message: assistant("Sunny."),
    });
  });

  test("the copy of a root's content for its trace is not stored twice", () => {
    const body = mapped({
      "langfuse.observation.type": "span",
      "langfuse.observation.input": '{"a":1}',
      "langfuse.trace.input": '{"a":1}',
      "langfuse.observation.output": "done",
      "langfuse.trace.output": "something else",
    });
    expect(body).toMatchObject({ input: { a: 1 }, output: "done" });
    expect(body["metadata"]).toEqual({
      "langfuse.observation.type": "span",
      "langfuse.trace.output": "something else",
    });
  });

  test("parameters without a field are kept", () => {
    const body = observation({ "model.parameters": { temperature: 0.5, seed: 7 } });
    expect(body).toMatchObject({
      temperature: 0.5,
      metadata: { "langfuse.observation.model.parameters": { seed: 7 } },
    });
  });
});

test("cache lifetimes from LangChain, with 0 as the total", () => {
  const usage = { input: 25, output: 17, total: 74, input_cache_read: 20, input_cache_creation: 0 };
  const body = mapped({
    "langfuse.observation.type": "generation",
    "langfuse.observation.model.name": "claude-sonnet-4-5",
    "langfuse.observation.usage_details": json({
      ...usage,
      input_ephemeral_5m_input_tokens: 10,
      input_ephemeral_1h_input_tokens: 2,
    }),
  });
  expect(body).toMatchObject({
    prompt_tokens: 57,
    completion_tokens: 17,
    prompt_cache_hit_tokens: 20,
    prompt_cache_creation_tokens: 12,
    usage_details: { cache_creation_5m_tokens: 10 },
    cache_creation_1h_tokens: 2,
    metadata: {},
  });
});

test.each([
  { input: 25, output: 17, cache_read: 20, cache_write: 12 },
  { promptTokens: 57, completionTokens: 17, totalTokens: 74, input_cache_read: 20, input_cache_creation: 12 },
])("usage in the names of other libraries: %o", (usage) => {
  const body = mapped({
    "langfuse.observation.type": "generation",
    "langfuse.observation.usage_details": json(usage),
  });
  expect(body).toMatchObject({
    prompt_tokens: 57,
    completion_tokens: 17,
    prompt_cache_hit_tokens: 20,
    prompt_cache_creation_tokens: 12,
  });
});
