import { describe, expect, test } from "vitest";
import type { OtlpEvent } from "../export-request.ts";
import { assistant, json, mapped, system, tool, user, weatherCall } from "../map-span.fixture.ts";

const scope = "litellm";

describe("LiteLLM", () => {
  test("a call of its proxy", () => {
    const body = mapped(
      {
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.operation.name": "acompletion",
        "llm.request.type": "acompletion",
        "llm.is_streaming": "True",
        "llm.user": "u1",
        "gen_ai.cost.input_cost": 0.1,
        "gen_ai.cost.total_cost": 0.3,
        "gen_ai.usage.input_tokens": 57,
        "gen_ai.usage.output_tokens": 17,
        "llm.request.functions.0.name": "get_weather",
        "llm.request.functions.0.description": "Weather",
        "llm.request.functions.0.parameters": json({ type: "object" }),
        "gen_ai.input.messages": json([{ role: "user", parts: [{ type: "text", content: "Weather?" }] }]),
        "gen_ai.output.messages": json([{ role: "assistant", parts: [], tool_calls: [weatherCall("c1")] }]),
        "gen_ai.completion.0.function_call.name": "get_weather",
      },
      { scope },
    );
    expect(body).toMatchObject({
      log_type: "chat",
      stream: true,
      cost: 0.3,
      customer_identifier: "u1",
      tools: [tool()],
      prompt_messages: [user("Weather?")],
      completion_message: { content: null, tool_calls: [weatherCall("c1")] },
    });
  });

  test.each([
    ["completion", "chat"],
    ["aembedding", "embedding"],
    ["aresponses", "response"],
    ["atranscription", "transcription"],
    ["arerank", "task"],
  ])("its call %s is %s, also without content", (call, log_type) => {
    expect(mapped({ "gen_ai.request.model": "m", "llm.request.type": call }, { scope })["log_type"]).toBe(log_type);
  });

  test("lists printed by Python are not read as messages", () => {
    const raw = "[{'role': 'user', 'content': 'hello'}]";
    const body = mapped({ "llm.openai.model": "gpt-4o", "llm.openai.messages": raw }, { scope });
    expect(body).toMatchObject({ model: "gpt-4o", metadata: { "llm.openai.messages": raw } });
    expect(body).not.toHaveProperty("prompt_messages");
  });

  test("log records with a message in their body", () => {
    const event = (name: string, attributes: OtlpEvent["attributes"]): OtlpEvent => ({ name, timeNs: 1n, attributes });
    const events = [
      event(
        "gen_ai.content.prompt",
        new Map([
          ["role", "system"],
          ["content", "Be brief."],
          ["gen_ai.prompt", "Be brief."],
        ]),
      ),
      event("gen_ai.content.completion", new Map([["message", { role: "assistant", content: "hi" }]])),
    ];
    expect(mapped({}, { scope, events })).toMatchObject({
      prompt_messages: [system("Be brief.")],
      completion_message: assistant("hi"),
    });
  });
});
