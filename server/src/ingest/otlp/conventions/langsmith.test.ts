import { describe, expect, test } from "vitest";
import { assistant, json, mapped, tool, user, weatherCall } from "../map-span.fixture.ts";

const usage_metadata = {
  input_tokens: 57,
  output_tokens: 17,
  total_tokens: 74,
  input_token_details: { cache_read: 32 },
  output_token_details: { reasoning: 5 },
};

describe("LangSmith", () => {
  test("OpenAI's whole request and response: nothing is lost", () => {
    const body = mapped(
      {
        "langsmith.span.kind": "llm",
        "langsmith.trace.name": "ChatOpenAI",
        "gen_ai.operation.name": "chat",
        "gen_ai.prompt": json({ messages: [user("Weather?")], model: "gpt-4o", temperature: 0.5, tools: [tool()] }),
        "gen_ai.completion": json({
          choices: [{ index: 0, message: { role: "assistant", content: null, tool_calls: [weatherCall("c1")] } }],
          usage_metadata,
        }),
        "gen_ai.usage.input_tokens": 57,
        "gen_ai.usage.output_tokens": 17,
        // The Python SDK prints a dict.
        "gen_ai.usage.input_token_details": "{'cache_read': 32}",
        "langsmith.request.streaming": true,
      },
      { name: "ChatOpenAI" },
    );
    expect(body).toMatchObject({
      log_type: "chat",
      temperature: 0.5,
      stream: true,
      tools: [tool()],
      prompt_messages: [user("Weather?")],
      completion_message: { content: null, tool_calls: [weatherCall("c1")] },
      total_tokens: 74,
      prompt_cache_hit_tokens: 32,
      reasoning_tokens: 5,
      metadata: {},
    });
  });

  test("LangChain's tools and parameters of the invocation, usage within the message", () => {
    const message = { lc: 1, type: "constructor", id: ["AIMessage"], kwargs: { content: "Sunny.", usage_metadata } };
    const body = mapped({
      "langsmith.span.kind": "llm",
      "langsmith.metadata.invocation_params": json({
        model: "gpt-4o",
        temperature: 0.5,
        _type: "chat",
        tools: [tool()],
      }),
      "gen_ai.prompt": json({ messages: [[{ lc: 1, id: ["HumanMessage"], kwargs: { content: "Weather?" } }]] }),
      "gen_ai.completion": json({ generations: [[{ text: "Sunny.", message }]] }),
    });
    expect(body).toMatchObject({
      temperature: 0.5,
      tools: [tool()],
      prompt_messages: [user("Weather?")],
      completion_message: assistant("Sunny."),
      total_tokens: 74,
      prompt_cache_hit_tokens: 32,
      metadata: { invocation_params: { _type: "chat" } },
    });
  });

  test("a graph returns the whole conversation: its response is at the end", () => {
    const body = mapped({
      "langsmith.span.kind": "chain",
      "gen_ai.prompt": json({ messages: [{ type: "human", content: "Weather?" }] }),
      "gen_ai.completion": json({
        messages: [
          { type: "human", content: "Weather?" },
          {
            type: "ai",
            content: "",
            tool_calls: [{ name: "get_weather", args: { city: "Paris" }, id: "c1", type: "tool_call" }],
          },
          { type: "tool", content: "18", tool_call_id: "c1" },
          { type: "ai", content: "Sunny." },
        ],
      }),
    });
    expect(body).toMatchObject({
      log_type: "task",
      prompt_messages: [user("Weather?")],
      completion_message: assistant("Sunny."),
      completion_messages: [{ tool_calls: [weatherCall("c1")] }, { role: "tool", content: "18" }, assistant("Sunny.")],
    });
  });

  test.each([
    ["retriever", "embeddings", "task"],
    ["prompt", "chat", "task"],
    ["tool", "execute_tool", "tool"],
  ])("a %s is not a %s, although it names that operation", (kind, operation, log_type) => {
    const body = mapped({
      "langsmith.span.kind": kind,
      "gen_ai.operation.name": operation,
      "gen_ai.prompt": json({ query: "x" }),
      "gen_ai.completion": json({ output: { content: "y", type: "tool", tool_call_id: "c1" } }),
    });
    expect(body).toMatchObject({ log_type, input: { query: "x" }, output: { output: { content: "y" } } });
  });
});
