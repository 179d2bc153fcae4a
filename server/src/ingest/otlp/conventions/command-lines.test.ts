import { describe, expect, test } from "vitest";
import { json, mapped, system, user } from "../map-span.fixture.ts";

describe("the Gemini command line", () => {
  const scope = "gemini-cli";

  test("a stream of many chunks is one response", () => {
    const body = mapped(
      {
        "gen_ai.operation.name": "llm_call",
        "gen_ai.request.model": "gemini-2.5-pro",
        "gen_ai.system_instructions": json("Be brief."),
        "gen_ai.tool.definitions": json([
          { functionDeclarations: [{ name: "ls", parametersJsonSchema: { type: "object" } }] },
        ]),
        "gen_ai.input.messages": json([{ role: "user", parts: [{ text: "hello" }] }]),
        "gen_ai.output.messages": json([
          { role: "model", parts: [{ text: "hm", thought: true }] },
          { role: "model", parts: [{ text: "Hel" }] },
          null,
          { role: "model", parts: [{ text: "lo" }, { functionCall: { name: "ls", args: {} } }] },
        ]),
      },
      { scope },
    );
    expect(body).toMatchObject({
      log_type: "chat",
      prompt_messages: [system("Be brief."), user("hello")],
      tools: [{ type: "function", function: { name: "ls", parameters: { type: "object" } } }],
      completion_message: {
        role: "assistant",
        content: "Hello",
        reasoning_content: "hm",
        tool_calls: [{ type: "function", function: { name: "ls", arguments: "{}" } }],
      },
    });
    expect(body).not.toHaveProperty("completion_messages");
  });

  test("the input of a tool is not a message", () => {
    const body = mapped(
      {
        "gen_ai.operation.name": "tool_call",
        "gen_ai.tool.name": "ls",
        "gen_ai.input.messages": json({ callId: "c1", name: "ls", args: {} }),
        "gen_ai.output.messages": json({ status: "success" }),
      },
      { scope },
    );
    expect(body).toMatchObject({
      log_type: "tool",
      span_name: "ls",
      input: { callId: "c1", name: "ls", args: {} },
      output: { status: "success" },
    });
    expect(body).not.toHaveProperty("prompt_messages");
  });
});

describe("the Claude API and its SDKs", () => {
  const scope = "com.anthropic.sdk.typescript";

  test("a message, with cache writes by age", () => {
    const body = mapped(
      {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 57,
        "gen_ai.usage.output_tokens": 17,
        "gen_ai.usage.cache_read.input_tokens": 20,
        "gen_ai.usage.cache_write.input_tokens": 12,
        "anthropic.usage.cache_creation.ephemeral_5m_input_tokens": 8,
        "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": 4,
        "anthropic.message.stop_reason": "end_turn",
      },
      { scope, name: "anthropic.messages.create" },
    );
    expect(body).toMatchObject({
      log_type: "chat",
      prompt_tokens: 57,
      total_tokens: 74,
      prompt_cache_creation_tokens: 12,
      cache_creation_1h_tokens: 4,
      metadata: { "anthropic.message.stop_reason": "end_turn" },
    });
  });

  test("a tool, its result, and its session", () => {
    const body = mapped(
      {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "bash",
        "gen_ai.tool.call.arguments": json({ command: "ls" }),
        "anthropic.tool_result.content": json([{ type: "text", text: "ok" }]),
        "anthropic.session.id": "session_1",
      },
      { scope, name: "anthropic.tool_use bash" },
    );
    expect(body).toMatchObject({
      log_type: "tool",
      thread_identifier: "session_1",
      input: '{"command":"ls"}',
      output: '[{"type":"text","text":"ok"}]',
    });
  });

  test("methods that name a model without calling it", () => {
    const attributes = { "gen_ai.request.model": "claude", "anthropic.message.count_tokens.input_tokens": 5 };
    expect(mapped(attributes, { scope, name: "anthropic.messages.count_tokens" })["log_type"]).toBe("task");
  });
});

describe("Claude Code", () => {
  const scope = "com.anthropic.claude_code.tracing";

  test.each([
    ["claude_code.interaction", "agent"],
    ["claude_code.llm_request", "chat"],
    ["claude_code.tool", "tool"],
    ["claude_code.tool.execution", "task"],
    ["claude_code.tool.blocked_on_user", "task"],
  ])("%s is a span of kind %s", (name, log_type) => {
    expect(mapped({ "gen_ai.tool.call.id": "t1" }, { scope, name })["log_type"]).toBe(log_type);
  });

  test("a request with success=false failed, whatever its status", () => {
    const attributes = { model: "claude", success: false, error: "529 overloaded", "gen_ai.system": "anthropic" };
    expect(mapped(attributes, { scope, name: "claude_code.llm_request" })).toMatchObject({
      status: "error",
      status_code: 529,
      error_message: "529 overloaded",
    });
    expect(mapped({ success: false }, { scope: "mine" })["status"]).toBe("success");
  });
});
