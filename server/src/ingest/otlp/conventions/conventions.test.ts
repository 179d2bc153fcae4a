import { describe, expect, test } from "vitest";
import { assistant, json, mapped, system, tool, user, weatherCall } from "../map-span.fixture.ts";

/** One span per framework, according to its documentation and its source. */
describe("frameworks", () => {
  test("the AI SDK 4: flat arguments, cache and reasoning only in the provider's metadata", () => {
    const body = mapped({
      "ai.operationId": "ai.generateText.doGenerate",
      "ai.model.id": "gpt-4o",
      "ai.model.provider": "openai.chat",
      "ai.prompt.messages": json([user("hello")]),
      "ai.response.text": "",
      "ai.response.toolCalls": json([
        { toolCallType: "function", toolCallId: "c1", toolName: "get_weather", args: '{"city":"Paris"}' },
      ]),
      "ai.usage.promptTokens": 57,
      "ai.usage.completionTokens": 17,
      "ai.response.providerMetadata": json({ openai: { cachedPromptTokens: 32, reasoningTokens: 5 } }),
    });
    expect(body).toMatchObject({
      provider_id: "openai",
      prompt_tokens: 57,
      prompt_cache_hit_tokens: 32,
      reasoning_tokens: 5,
      completion_message: { role: "assistant", content: null, tool_calls: [weatherCall("c1")] },
    });
  });

  test("the AI SDK 6: details of tokens", () => {
    const body = mapped({
      "ai.operationId": "ai.streamText.doStream",
      "ai.usage.inputTokens": 57,
      "ai.usage.outputTokens": 17,
      "ai.usage.inputTokenDetails.noCacheTokens": 13,
      "ai.usage.inputTokenDetails.cacheReadTokens": 32,
      "ai.usage.inputTokenDetails.cacheWriteTokens": 12,
      "ai.usage.outputTokenDetails.reasoningTokens": 5,
      "ai.stream.msToFirstChunk": 250,
    });
    expect(body).toMatchObject({
      stream: true,
      time_to_first_token: 0.25,
      prompt_tokens: 57,
      prompt_cache_hit_tokens: 32,
      prompt_cache_creation_tokens: 12,
      reasoning_tokens: 5,
    });
  });

  test("LangSmith", () => {
    const body = mapped({
      "langsmith.span.kind": "llm",
      "langsmith.metadata.thread_id": "t1",
      "langsmith.metadata.plan": "pro",
      "langsmith.span.tags": "a, b",
      "gen_ai.request.model": "gpt-4o",
      "gen_ai.system": "langchain",
      "gen_ai.prompt": json({
        messages: [
          [
            {
              lc: 1,
              type: "constructor",
              id: ["langchain_core", "messages", "HumanMessage"],
              kwargs: { content: "hello" },
            },
          ],
        ],
      }),
      "gen_ai.completion": json({
        generations: [[{ text: "hi", message: { lc: 1, id: ["AIMessage"], kwargs: { content: "hi" } } }]],
      }),
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 2,
      "gen_ai.usage.input_token_details": json({ cache_read: 4 }),
    });
    expect(body).toMatchObject({
      log_type: "chat",
      thread_identifier: "t1",
      prompt_messages: [user("hello")],
      completion_message: assistant("hi"),
      prompt_cache_hit_tokens: 4,
      metadata: { plan: "pro", tags: ["a", "b"], "gen_ai.system": "langchain" },
    });
    expect(body["provider_id"]).toBeUndefined();
  });

  test("pydantic-ai: a list of events, and the whole conversation on the root", () => {
    const events = [
      { "event.name": "gen_ai.system.message", role: "system", content: "Be brief." },
      { "event.name": "gen_ai.user.message", role: "user", content: "Weather?" },
      {
        "event.name": "gen_ai.choice",
        index: 0,
        message: {
          role: "assistant",
          tool_calls: [{ id: "c1", type: "function", function: { name: "get_weather", arguments: { city: "Paris" } } }],
        },
      },
    ];
    const scope = "pydantic-ai";
    const call = mapped(
      { "gen_ai.operation.name": "chat", events: json(events), "logfire.json_schema": "{}" },
      { scope },
    );
    expect(call).toMatchObject({
      prompt_messages: [system("Be brief."), user("Weather?")],
      completion_message: { tool_calls: [weatherCall("c1")] },
      metadata: {},
    });
    const all = [
      { role: "user", parts: [{ type: "text", content: "Weather?" }] },
      { role: "assistant", parts: [{ type: "text", content: "Sunny." }] },
    ];
    expect(
      mapped({ "gen_ai.operation.name": "invoke_agent", "pydantic_ai.all_messages": json(all) }, { scope }),
    ).toMatchObject({
      log_type: "agent",
      prompt_messages: [user("Weather?")],
      completion_message: assistant("Sunny."),
    });
    expect(
      mapped(
        { "gen_ai.tool.name": "get_weather", tool_arguments: '{"city":"Paris"}', tool_response: "18C" },
        { scope },
      ),
    ).toMatchObject({
      log_type: "tool",
      input: '{"city":"Paris"}',
      output: "18C",
    });
  });

  test("Mastra", () => {
    const body = mapped({
      "mastra.span.type": "model_inference",
      "mastra.metadata.threadId": "t1",
      "mastra.metadata.userId": "u1",
      "mastra.tags": '["a"]',
      "mastra.model_inference.input": json({ messages: [user("hello")] }),
      "mastra.model_inference.output": json({ text: "hi" }),
      "gen_ai.usage.input_tokens": "720",
    });
    expect(body).toMatchObject({
      log_type: "chat",
      thread_identifier: "t1",
      customer_identifier: "u1",
      prompt_messages: [user("hello")],
      completion_message: assistant("hi"),
      prompt_tokens: 720,
      metadata: { tags: ["a"] },
    });
    expect(
      mapped({
        "mastra.span.type": "tool_call",
        "mastra.tool_call.input": '{"a":1}',
        "mastra.tool_call.output": '"x"',
      }),
    ).toMatchObject({ log_type: "tool", input: { a: 1 }, output: '"x"' });
  });

  test("Laminar", () => {
    const body = mapped({
      "lmnr.span.type": "LLM",
      "lmnr.span.path": ["root", "call"],
      "lmnr.association.properties.user_id": "u1",
      "lmnr.association.properties.session_id": "s1",
      "lmnr.association.properties.metadata.plan": "pro",
      "lmnr.span.input": json([user("hello")]),
      "lmnr.span.output": json([assistant("hi")]),
    });
    expect(body).toMatchObject({
      log_type: "chat",
      span_path: "root.call",
      customer_identifier: "u1",
      thread_identifier: "s1",
      prompt_messages: [user("hello")],
      completion_message: assistant("hi"),
      metadata: { plan: "pro" },
    });
  });

  test("Genkit", () => {
    const body = mapped({
      "genkit:name": "openai/gpt-4o",
      "genkit:metadata:subtype": "model",
      "genkit:input": json({
        messages: [{ role: "user", content: [{ text: "Weather?" }] }],
        tools: [{ name: "get_weather", description: "Weather", inputSchema: { type: "object" } }],
        config: { temperature: 0.5 },
      }),
      "genkit:output": json({
        message: { role: "model", content: [{ text: "Sunny." }] },
        usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 },
      }),
      "genkit:state": "success",
    });
    expect(body).toMatchObject({
      log_type: "chat",
      model: "gpt-4o",
      provider_id: "openai",
      temperature: 0.5,
      prompt_messages: [user("Weather?")],
      completion_message: assistant("Sunny."),
      tools: [tool()],
      total_tokens: 7,
    });
    expect(mapped({ "genkit:state": "error", "genkit:input": "{}" })).toMatchObject({ status: "error" });
  });

  test("Google ADK", () => {
    const scope = "gcp.vertex.agent";
    const body = mapped(
      {
        "gen_ai.system": scope,
        "gcp.vertex.agent.session_id": "s1",
        "gcp.vertex.agent.llm_request": json({
          model: "gemini-2.0-flash",
          config: {
            temperature: 0.5,
            system_instruction: "Be brief.",
            tools: [
              {
                function_declarations: [
                  { name: "get_weather", description: "Weather", parameters: { type: "object" } },
                ],
              },
            ],
          },
          contents: [{ role: "user", parts: [{ text: "Weather?" }] }],
        }),
        "gcp.vertex.agent.llm_response": json({
          content: {
            role: "model",
            parts: [{ functionCall: { id: "c1", name: "get_weather", args: { city: "Paris" } } }],
          },
          usage_metadata: {
            prompt_token_count: 10,
            candidates_token_count: 5,
            total_token_count: 15,
            cached_content_token_count: 4,
          },
        }),
      },
      { scope, name: "call_llm" },
    );
    expect(body).toMatchObject({
      log_type: "chat",
      model: "gemini-2.0-flash",
      thread_identifier: "s1",
      temperature: 0.5,
      prompt_messages: [system("Be brief."), user("Weather?")],
      completion_message: { role: "assistant", content: null, tool_calls: [weatherCall("c1")] },
      tools: [tool()],
      total_tokens: 15,
      prompt_cache_hit_tokens: 4,
    });
    expect(
      mapped(
        {
          "gcp.vertex.agent.tool_call_args": '{"a":1}',
          "gcp.vertex.agent.tool_response": "x",
          "gcp.vertex.agent.llm_request": "{}",
        },
        { scope, name: "execute_tool t" },
      ),
    ).toMatchObject({ log_type: "tool", input: '{"a":1}', output: "x" });
  });

  test.each(["lk.", "lk.pii."])("LiveKit with %s*", (prefix) => {
    const scope = "livekit-agents";
    const body = mapped(
      {
        [`${prefix}chat_ctx`]: json({ items: [{ type: "message", role: "user", content: ["Weather?"] }] }),
        [`${prefix}response.text`]: "Sunny.",
        "lk.response.ttft": 0.3,
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.input_cached_tokens": 4,
      },
      { scope, name: "llm_node" },
    );
    expect(body).toMatchObject({
      log_type: "chat",
      prompt_messages: [user("Weather?")],
      completion_message: assistant("Sunny."),
      time_to_first_token: 0.3,
      prompt_cache_hit_tokens: 4,
    });
    expect(
      mapped(
        {
          "lk.function_tool.name": "get_weather",
          [`${prefix}function_tool.arguments`]: "{}",
          "lk.function_tool.is_error": true,
        },
        { scope, name: "function_tool" },
      ),
    ).toMatchObject({ log_type: "tool", span_name: "get_weather", status: "error", input: "{}" });
  });

  test("Claude Code: input that excludes cached tokens", () => {
    const scope = "com.anthropic.claude_code.tracing";
    const body = mapped(
      {
        model: "claude-sonnet-4-5",
        input_tokens: 25,
        output_tokens: 17,
        cache_read_tokens: 20,
        cache_creation_tokens: 12,
        ttft_ms: 250,
        "session.id": "s1",
        "response.model_output": "hi",
      },
      { scope, name: "claude_code.llm_request" },
    );
    expect(body).toMatchObject({
      log_type: "chat",
      model: "claude-sonnet-4-5",
      provider_id: "anthropic",
      prompt_tokens: 57,
      total_tokens: 74,
      prompt_cache_hit_tokens: 20,
      prompt_cache_creation_tokens: 12,
      time_to_first_token: 0.25,
      thread_identifier: "s1",
      completion_message: assistant("hi"),
    });
  });

  test("Codex", () => {
    const body = mapped(
      {
        model: "gpt-5",
        "conversation.id": "c1",
        "codex.turn.token_usage.input_tokens": 57,
        "codex.turn.token_usage.cached_input_tokens": 32,
        "codex.turn.token_usage.output_tokens": 17,
        "codex.turn.token_usage.reasoning_output_tokens": 5,
        "codex.turn.token_usage.total_tokens": 74,
      },
      { scope: "codex_cli_rs", name: "session_task.turn" },
    );
    expect(body).toMatchObject({
      log_type: "agent",
      model: "gpt-5",
      thread_identifier: "c1",
      total_tokens: 74,
      prompt_cache_hit_tokens: 32,
      reasoning_tokens: 5,
    });
  });

  test("MLflow", () => {
    const body = mapped({
      "mlflow.spanType": '"CHAT_MODEL"',
      "mlflow.spanInputs": json({ model: "gpt-4o", messages: [user("hello")] }),
      "mlflow.spanOutputs": json({ choices: [{ message: assistant("hi") }] }),
      "mlflow.chat.tokenUsage": json({ input_tokens: 5, output_tokens: 2, total_tokens: 7 }),
    });
    expect(body).toMatchObject({
      log_type: "chat",
      prompt_messages: [user("hello")],
      completion_message: assistant("hi"),
      total_tokens: 7,
    });
  });

  test("LiteLLM", () => {
    const body = mapped(
      {
        "SpanAttributes.LLM_PROMPTS.0.role": "user",
        "SpanAttributes.LLM_PROMPTS.0.content": "hello",
        "SpanAttributes.LLM_COMPLETIONS.0.content": "hi",
        "llm.openai.model": "gpt-4o",
      },
      { scope: "litellm" },
    );
    expect(body).toMatchObject({
      model: "gpt-4o",
      prompt_messages: [user("hello")],
      completion_message: assistant("hi"),
    });
  });

  test("OpenLLMetry: the name of an agent is not a workflow name", () => {
    const inner = mapped({
      "traceloop.workflow.name": "weather_agent",
      "gen_ai.agent.name": "weather_agent",
      "traceloop.association.properties.user_id": "u1",
      "traceloop.association.properties.chat_thread": "x",
    });
    expect(inner).toMatchObject({ customer_identifier: "u1", metadata: { chat_thread: "x" } });
    expect(inner["span_workflow_name"]).toBeUndefined();
    expect(mapped({ "traceloop.workflow.name": "flow", "traceloop.span.kind": "workflow" })["span_workflow_name"]).toBe(
      "flow",
    );
  });

  test("hand-made spans with bare names", () => {
    const body = mapped({ input: "hello", output: "hi", user_id: 42, thread_id: "t1" });
    expect(body).toMatchObject({
      input: "hello",
      output: "hi",
      customer_identifier: "42",
      thread_identifier: "t1",
      metadata: {},
    });
  });
});
