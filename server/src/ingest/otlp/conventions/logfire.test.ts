import { describe, expect, test } from "vitest";
import { assistant, json, mapped, system, tool, user, weatherCall } from "../map-span.fixture.ts";

describe("pydantic-ai", () => {
  const scope = "pydantic-ai";
  const answered = [
    { role: "user", parts: [{ type: "text", content: "Weather?" }] },
    { role: "assistant", parts: [{ type: "tool_call", id: "c1", name: "get_weather", arguments: { city: "Paris" } }] },
    { role: "tool", parts: [{ type: "tool_call_response", id: "c1", name: "get_weather", result: "18" }] },
    { role: "assistant", parts: [{ type: "text", content: "Sunny." }] },
  ];

  test("a run without an operation, with instructions beside the messages", () => {
    const body = mapped(
      {
        model_name: "gpt-4o",
        "gen_ai.system_instructions": json([{ type: "text", content: "Be brief." }]),
        "pydantic_ai.all_messages": json(answered),
        final_result: "Sunny.",
        "gen_ai.aggregated_usage.input_tokens": 100,
      },
      { scope, name: "invoke_agent agent" },
    );
    expect(body).toMatchObject({
      log_type: "agent",
      prompt_messages: [
        system("Be brief."),
        user("Weather?"),
        { tool_calls: [weatherCall("c1")] },
        { role: "tool", content: "18" },
      ],
      completion_message: assistant("Sunny."),
    });
    // The sum of the calls below it is not usage of its own.
    expect(body).not.toHaveProperty("prompt_tokens");
  });

  test("media before version 4", () => {
    const parts = [
      { type: "image-url", url: "https://example.com/a.png" },
      { type: "binary", media_type: "image/png", content: "AA" },
    ];
    const image = (url: string) => ({ type: "image_url", image_url: { url } });
    expect(mapped({ "gen_ai.input.messages": json([{ role: "user", parts }]) }, { scope })["prompt_messages"]).toEqual([
      { role: "user", content: [image("https://example.com/a.png"), image("data:image/png;base64,AA")] },
    ]);
  });

  test("tools ran under one name before version 3", () => {
    const body = mapped({ "gen_ai.tool.name": "get_weather", tool_arguments: "{}" }, { scope, name: "running tool" });
    expect(body).toMatchObject({ log_type: "tool", span_name: "get_weather", input: "{}" });
  });
});

describe("Logfire's own instrumentations", () => {
  test("of Anthropic: the whole request", () => {
    const body = mapped(
      {
        request_data: json({
          model: "claude",
          system: "Be brief.",
          max_tokens: 5,
          top_k: 3,
          messages: [user("hello")],
        }),
        response_data: json({ message: assistant("hi"), usage: { input_tokens: 2 } }),
        "logfire.tags": ["LLM"],
      },
      { scope: "logfire.anthropic" },
    );
    expect(body).toMatchObject({
      log_type: "chat",
      model: "claude",
      max_tokens: 5,
      prompt_messages: [system("Be brief."), user("hello")],
      completion_message: assistant("hi"),
    });
    expect(body["metadata"]).toEqual({ request_data: { top_k: 3 }, tags: ["LLM"] });
  });

  test("of embeddings and of streams", () => {
    const embedding = { "gen_ai.operation.name": "embeddings", request_data: json({ model: "e", input: "hello" }) };
    expect(mapped(embedding, { scope: "logfire.openai" })).toMatchObject({ log_type: "embedding", input: "hello" });
    const stream = {
      request_data: { model: "m", messages: [user("hello")] },
      response_data: { combined_chunk_content: "hi" },
    };
    expect(mapped(stream, { scope: "logfire.openai" })).toMatchObject({
      prompt_messages: [user("hello")],
      completion_message: assistant("hi"),
      metadata: {},
    });
  });

  test("of OpenAI's agents: the response is among the messages, or in `response`", () => {
    const scope = "logfire.openai_agents";
    expect(
      mapped({ request_data: { model: "m", messages: [user("hello"), assistant("hi")] } }, { scope }),
    ).toMatchObject({
      prompt_messages: [user("hello")],
      completion_message: assistant("hi"),
    });
    const response = {
      temperature: 0.5,
      tools: [{ type: "function", name: "get_weather", description: "Weather", parameters: { type: "object" } }],
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] }],
    };
    const events = [{ "event.name": "gen_ai.user.message", role: "user", content: "hello" }];
    const body = mapped({ response: json(response), events: json(events), raw_input: "hello" }, { scope });
    expect(body).toMatchObject({ temperature: 0.5, tools: [tool()], prompt_messages: [user("hello")], metadata: {} });
    expect(mapped({ name: "t" }, { scope, name: "Function: {name}" })["log_type"]).toBe("tool");
  });
});
