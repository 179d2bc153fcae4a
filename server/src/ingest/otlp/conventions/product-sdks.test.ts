import { describe, expect, test } from "vitest";
import { assistant, json, mapped, system, tool, user, weatherCall } from "../map-span.fixture.ts";

/**
 * Attributes of the product's own SDKs and related ones: those of OpenLLMetry, with lists and messages as JSON text.
 */
const failed = (message: string) => ({ status: { code: 2, message } });
const called = (id?: string) => ({ role: "assistant", content: null, tool_calls: [weatherCall(id)] });

describe("S1: calls and definitions as one JSON text", () => {
  test("are read", () => {
    const body = mapped({
      "llm.request.functions": json([tool()]),
      "gen_ai.prompt.0.role": "user",
      "gen_ai.prompt.0.content": "Weather?",
      "gen_ai.completion.0.role": "assistant",
      "gen_ai.completion.0.content": "",
      "gen_ai.completion.0.tool_calls": json([weatherCall("c1")]),
    });
    expect(body).toMatchObject({
      prompt_messages: [user("Weather?")],
      completion_message: { tool_calls: [weatherCall("c1")] },
      tools: [tool()],
      metadata: {},
    });
  });

  test("also in LangChain's format, or as real lists", () => {
    const body = mapped({
      "gen_ai.prompt.0.role": "assistant",
      "gen_ai.prompt.0.tool_calls": json([
        { name: "get_weather", args: { city: "Paris" }, id: "c1", type: "tool_call" },
      ]),
      "gen_ai.completion.0.role": "assistant",
      "gen_ai.completion.0.tool_calls": [weatherCall("c2")],
      "llm.request.functions": [tool()],
    });
    expect(body).toMatchObject({
      prompt_messages: [called("c1")],
      completion_message: called("c2"),
      tools: [tool()],
    });
  });

  test("a value that is not a list of calls is kept", () => {
    const body = mapped({
      "gen_ai.prompt.0.role": "user",
      "gen_ai.prompt.0.content": "Weather?",
      "gen_ai.prompt.0.tool_calls": "[{cut off",
      "gen_ai.prompt.0.made_up": "kept",
      "llm.request.functions": "none at all",
    });
    expect(body["metadata"]).toEqual({
      "gen_ai.prompt.0.tool_calls": "[{cut off",
      "gen_ai.prompt.0.made_up": "kept",
      "llm.request.functions": "none at all",
    });
  });

  const flat = {
    "gen_ai.prompt.0.role": "user",
    "gen_ai.prompt.0.content": "Weather?",
    "gen_ai.prompt.1.role": "assistant",
    "gen_ai.prompt.1.tool_calls": json([weatherCall("c1")]),
    "gen_ai.prompt.2.role": "tool",
    "gen_ai.prompt.2.content": "22",
  };
  const result = { role: "tool", content: "22", tool_call_id: "c1" };

  test.each([
    ["a list", [user("Weather?"), called("c1"), result]],
    ["a batch of one", [[user("Weather?"), called("c1"), result]]],
  ])("the same messages as %s fill the gaps", (_name, messages) => {
    const body = mapped({ ...flat, "traceloop.entity.input": json(messages) });
    expect(body["prompt_messages"]).toEqual([user("Weather?"), called("c1"), result]);
    expect(body["metadata"]).toEqual({});
  });

  test("other messages do not, and are kept", () => {
    const other = json([user("Something else"), result]);
    const body = mapped({ ...flat, "traceloop.entity.input": other });
    expect(body["prompt_messages"]).toEqual([user("Weather?"), called("c1"), { role: "tool", content: "22" }]);
    expect(JSON.stringify(body["metadata"])).toContain("Something else");
  });
});

describe("S3: choices and embeddings", () => {
  test.each([
    ["choices", [{ index: 0, finish_reason: "stop", message: assistant("Sunny.") }]],
    ["a response with choices", { choices: [{ index: 0, finish_reason: "stop", message: assistant("Sunny.") }] }],
    ["messages", [assistant("Sunny.")]],
  ])("output messages that are %s", (_name, output) => {
    const body = mapped({ "gen_ai.operation.name": "chat", "gen_ai.output.messages": json(output) });
    expect(body).toMatchObject({ log_type: "chat", completion_message: assistant("Sunny.") });
    expect(body).not.toHaveProperty("output");
  });

  test.each([
    [{ "gen_ai.request.model": "text-embedding-3-small" }, "call", "embedding"],
    [{ "gen_ai.request.model": "voyage/embed-v4" }, "call", "embedding"],
    [{ "gen_ai.request.model": "custom" }, "openai.embeddings", "embedding"],
    [{ "gen_ai.request.model": "custom" }, "CreateEmbeddings", "embedding"],
    [{ "gen_ai.request.model": "custom", "gen_ai.embeddings.dimension.count": 3 }, "call", "embedding"],
    [{ "gen_ai.request.model": "gpt-4o" }, "explain embeddings to me", "chat"],
    [{ "gen_ai.request.model": "embedded-systems-coder" }, "call", "chat"],
    [{ "gen_ai.request.model": "text-embedding-3-small", "gen_ai.operation.name": "chat" }, "call", "chat"],
    [{}, "load embeddings", "task"],
  ] as const)("%o in a span named %s: %s", (attributes, name, type) => {
    expect(mapped(attributes, { name })["log_type"]).toBe(type);
  });
});

test.each([{}, { "traceloop.span.kind": "task" }])("S5: the name of the entity is the span's, with %o", (kind) => {
  const body = mapped({ ...kind, "traceloop.entity.name": "plan" }, { name: "task" });
  expect(body).toMatchObject({ span_name: "plan", metadata: {} });
});

describe("S6: quotes", () => {
  const metadata = (attributes: Record<string, unknown>) => mapped(attributes)["metadata"];

  test("are removed from metadata if an SDK encodes all values", () => {
    const prefix = "langfuse.trace.metadata.";
    expect(
      metadata({ [`${prefix}plan`]: '"pro"', [`${prefix}n`]: "3", [`${prefix}is`]: "true", [`${prefix}o`]: '{"a":1}' }),
    ).toMatchObject({ plan: "pro", n: 3, is: true, o: { a: 1 } });
  });

  test("are kept if it does not", () => {
    const prefix = "langfuse.trace.metadata.";
    const given = { [`${prefix}motto`]: '"quoted"', [`${prefix}plan`]: "pro", [`${prefix}zip`]: "01234" };
    expect(metadata(given)).toMatchObject({ motto: '"quoted"', plan: "pro", zip: "01234" });
    expect(metadata({ [`${prefix}n`]: "3" })).toMatchObject({ n: "3" });
  });

  test("are removed from prompts if all are encoded, or if another form shows it", () => {
    const quoted = {
      "gen_ai.prompt.0.role": "system",
      "gen_ai.prompt.0.content": '"be brief"',
      "gen_ai.prompt.1.role": "user",
      "gen_ai.prompt.1.content": '"hi"',
    };
    expect(mapped(quoted)["prompt_messages"]).toEqual([system("be brief"), user("hi")]);
    const one = { "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": '"hi"' };
    expect(mapped({ ...one, "traceloop.entity.input": json([user("hi")]) })["prompt_messages"]).toEqual([user("hi")]);
  });

  test("are kept on quoted content", () => {
    const prompt = { "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": '"hi"' };
    expect(mapped(prompt)["prompt_messages"]).toEqual([user('"hi"')]);
    const more = { ...prompt, "gen_ai.prompt.1.role": "user", "gen_ai.prompt.1.content": "plain" };
    expect(mapped(more)["prompt_messages"]).toEqual([user('"hi"'), user("plain")]);
  });
});

describe("S9: a failed call without a response has no completion", () => {
  const error = "Error code: 429 - {'error': {'message': 'Rate limit reached'}}";
  test.each([
    { "traceloop.entity.output": json({ error: "RateLimitError", message: error, status: "error", status_code: 429 }) },
    { "traceloop.entity.output": json({ output: null }) },
    { "traceloop.entity.output": "null" },
    { "output.value": json({ error: { message: error, status_code: 429 } }) },
    { "gen_ai.completion.0.role": "assistant" },
    { "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": error },
    { "gen_ai.output.messages": json([{ role: "assistant", parts: [{ type: "text", content: error }] }]) },
  ])("%o", (attributes) => {
    const body = mapped({ "llm.request.type": "chat", "gen_ai.request.model": "gpt-4o", ...attributes }, failed(error));
    expect(body).toMatchObject({ log_type: "chat", status: "error", status_code: 429, error_message: error });
    expect(body).not.toHaveProperty("completion_message");
    expect(body).not.toHaveProperty("output");
    // The error's type is found nowhere else.
    const { "traceloop.entity.output": left } = body["metadata"] as Record<string, unknown>;
    expect(left === undefined || JSON.stringify(left) === json({ error: "RateLimitError" })).toBe(true);
  });

  test("an interrupted response keeps its content so far", () => {
    const attributes = { "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "It is 22 deg" };
    expect(mapped(attributes, failed("connection lost"))["completion_message"]).toEqual(assistant("It is 22 deg"));
    const tool_calls = { "gen_ai.completion.0.tool_calls": json([weatherCall("c1")]) };
    expect(mapped(tool_calls, failed("no"))["completion_message"]).toEqual(called("c1"));
    expect(mapped({ "traceloop.entity.output": json({ found: 3, error: "late" }) }, failed("no"))["output"]).toBe(
      json({ found: 3, error: "late" }),
    );
  });

  test("an empty response of a successful call is kept", () => {
    expect(mapped({ "gen_ai.completion.0.role": "assistant" })["completion_message"]).toEqual(assistant(""));
  });
});

describe("S10: usage as an object", () => {
  const usage = { prompt_tokens: 120, completion_tokens: 30, prompt_tokens_details: { cached_tokens: 64 } };
  test.each(["gen_ai.usage.raw", "gen_ai.usage", "gen_ai.response.usage", "llm.usage"])("%s", (key) => {
    for (const given of [usage, json(usage)]) {
      expect(mapped({ "gen_ai.request.model": "gpt-4o", [key]: given })).toMatchObject({ usage, metadata: {} });
    }
  });

  test("as Python prints it", () => {
    const given = "{'prompt_tokens': 120, 'completion_tokens': 30, 'extra': None}";
    expect(mapped({ "gen_ai.usage.raw": given })).toMatchObject({
      usage: { prompt_tokens: 120, completion_tokens: 30 },
    });
  });

  test.each(["none", "{'it's': 1}", json({ made_up: 1 }), json([1])])("not %s, which stays", (given) => {
    expect(mapped({ "gen_ai.usage.raw": given })).toMatchObject({ metadata: { "gen_ai.usage.raw": given } });
  });
});

describe("S14: metadata has no junk", () => {
  test("no empty values, no events for each chunk, and no repetition of a field", () => {
    const chunk = (name: string) => ({ name, timeNs: 1n, attributes: new Map() });
    const body = mapped(
      {
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.response.model": "gpt-4o",
        "gen_ai.request.reasoning_effort": [],
        "llm.headers": "None",
        empty: "",
        nothing: {},
        status_code: 200,
        zero: 0,
        no: false,
        "respan.metadata.plan": "",
        "respan.metadata.tier": "gold",
      },
      {
        events: [
          chunk("llm.content.completion.chunk"),
          chunk("gen_ai.content.completion.chunk"),
          chunk("retry after a chunk"),
        ],
      },
    );
    expect(body["metadata"]).toEqual({
      zero: 0,
      no: false,
      tier: "gold",
      "otel.events": [expect.objectContaining({ name: "retry after a chunk" })],
    });
  });

  test("different values are all kept", () => {
    expect(
      mapped({
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.response.model": "gpt-4o-2024-08-06",
        "respan.metadata.plan": "pro",
        "keywordsai.metadata.plan": "free",
        plan: "none",
        status_code: 201,
      })["metadata"],
    ).toEqual({
      "gen_ai.request.model": "gpt-4o",
      plan: "pro",
      "otel.attributes.plan": "none",
      "keywordsai.metadata.plan": "free",
      status_code: 201,
    });
  });

  test("embedding vectors are not kept", () => {
    const vector = [0.1, 0.2];
    const given = { "embedding.embeddings.0.embedding.vector": vector, "ai.embedding": json(vector), vectors: vector };
    expect(mapped(given)["metadata"]).toEqual({ vectors: vector });
  });
});

describe("S16: calls of the Responses API", () => {
  test.each([
    { "respan.entity.log_type": "chat", "gen_ai.response.id": "resp_1" },
    { "respan.entity.log_type": "chat", "llm.request.type": "chat", "traceloop.entity.name": "response" },
    { "respan.entity.log_type": "chat", "traceloop.entity.name": "openai.response" },
    { "openinference.span.kind": "LLM", "output.value": json({ id: "resp_1", object: "response", output: [] }) },
    { "langfuse.observation.type": "generation", "langfuse.observation.metadata.object": "response" },
    { "gen_ai.response.id": "resp_1", "gen_ai.request.model": "gpt-5" },
    { "llm.request.type": "aresponses" },
  ])("%o is a response", (attributes) => {
    const body = mapped({ "gen_ai.request.model": "gpt-5", ...attributes });
    expect(body["log_type"]).toBe("response");
    expect(body["metadata"]).not.toMatchObject({ "respan.entity.log_type": "chat" });
  });

  test.each([
    ["Response", "openinference.instrumentation.openai", "response"],
    ["openai.responses.create", "", "response"],
    ["Responses API with {gen_ai.request.model!r}", "logfire.openai", "response"],
    ["Response", "my.app", "chat"],
    ["response rating", "openinference.instrumentation.openai", "chat"],
  ])("a failed one that only its name identifies: %s of %s is a %s", (name, scope, type) => {
    expect(mapped({ "gen_ai.request.model": "gpt-5" }, { name, scope, ...failed("no") })["log_type"]).toBe(type);
  });

  test.each([
    [{ "respan.entity.log_type": "tool", "traceloop.entity.name": "response" }, "tool"],
    [{ "respan.entity.log_type": "agent", "gen_ai.response.id": "resp_1" }, "agent"],
    [{ "respan.entity.log_type": "chat", "traceloop.entity.name": "response writer" }, "chat"],
    [{ "gen_ai.operation.name": "chat", "gen_ai.response.id": "chatcmpl-1" }, "chat"],
    [{ "openinference.span.kind": "CHAIN", "output.value": json({ object: "response" }) }, "task"],
  ] as const)("%o is a %s", (attributes, type) => expect(mapped(attributes)["log_type"]).toBe(type));

  test("a reasoning summary becomes its text", () => {
    const summary = [{ text: "Look it up.", type: "summary_text" }];
    const body = mapped({
      "gen_ai.completion.0.role": "assistant",
      "gen_ai.completion.0.content": "Sunny.",
      "gen_ai.completion.0.reasoning": json(summary),
    });
    expect(body["completion_message"]).toEqual({ ...assistant("Sunny."), reasoning_content: "Look it up." });
    const items = [
      { type: "reasoning", id: "rs_1", content: [], summary },
      { type: "function_call", id: "fc_1", call_id: "c1", name: "get_weather", arguments: '{"city":"Paris"}' },
    ];
    expect(mapped({ "gen_ai.output.messages": json(items) })["completion_message"]).toEqual({
      ...called("c1"),
      reasoning_content: "Look it up.",
    });
  });
});

test("S16: frameworks are not providers", () => {
  expect(mapped({ "gen_ai.system": "autogen" })).not.toHaveProperty("provider_id");
  expect(
    mapped({
      "langchain.metadata": json({ ls_provider: "openai", ls_model_name: "gpt-4o", user_id: "u1", plan: "pro" }),
    }),
  ).toMatchObject({
    provider_id: "openai",
    model: "gpt-4o",
    customer_identifier: "u1",
    metadata: { plan: "pro" },
  });
});
