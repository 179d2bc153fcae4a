import { describe, expect, test } from "vitest";
import { assistant, json, mapped, tool, user, weatherCall } from "../map-span.fixture.ts";

const call = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o" };
const counts = { "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5 };

describe("Sentry", () => {
  const definition = { name: "get_weather", description: "Weather", parameters: { type: "object" } };
  const request = {
    ...call,
    ...counts,
    "gen_ai.request.messages": json([user("Weather in Paris?")]),
    "gen_ai.request.available_tools": json([definition]),
    "gen_ai.usage.input_tokens.cached": 4,
    "gen_ai.usage.input_tokens.cache_write": 3,
    "gen_ai.usage.output_tokens.reasoning": 2,
  };

  test("the request, the tools and the parts of the counts", () => {
    expect(mapped({ ...request, "gen_ai.response.text": "Sunny." })).toMatchObject({
      prompt_messages: [user("Weather in Paris?")],
      completion_message: assistant("Sunny."),
      tools: [tool()],
      prompt_tokens: 10,
      prompt_cache_hit_tokens: 4,
      prompt_cache_creation_tokens: 3,
      reasoning_tokens: 2,
      metadata: {},
    });
  });

  test("tool calls, and several choices", () => {
    const calls = json([{ id: "c1", name: "get_weather", arguments: '{"city":"Paris"}' }]);
    const called = mapped({ ...request, "gen_ai.response.tool_calls": calls });
    expect(called["completion_message"]).toMatchObject({ role: "assistant", tool_calls: [weatherCall("c1")] });
    const chosen = mapped({ ...request, "gen_ai.response.text": json(["Sunny.", "Rain."]) });
    expect(chosen["completion_message"]).toEqual(assistant("Sunny."));
    expect(chosen["completion_messages"]).toEqual([assistant("Sunny."), assistant("Rain.")]);
  });
});

test("Pipecat: bare keys beside the conventions, in seconds", () => {
  const body = mapped(
    {
      ...call,
      ...counts,
      input: json([user("hello")]),
      output: "hi",
      tools: json([tool()]),
      "metrics.ttfb": 0.42,
      "conversation.id": "c9",
    },
    { scope: "pipecat" },
  );
  expect(body).toMatchObject({
    prompt_messages: [user("hello")],
    completion_message: assistant("hi"),
    tools: [tool()],
    time_to_first_token: 0.42,
    thread_identifier: "c9",
    metadata: {},
  });
  expect(mapped({ ...call, output: "hi", input: "hello" })).toMatchObject({ input: "hello", output: "hi" });
});

test("OpenRouter: the text within an object", () => {
  const body = mapped({
    ...call,
    "gen_ai.prompt": json({ messages: [user("hello")] }),
    "gen_ai.completion": json({ completion: "hi" }),
  });
  expect(body).toMatchObject({ prompt_messages: [user("hello")], completion_message: assistant("hi"), metadata: {} });
});
