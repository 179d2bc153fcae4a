import { describe, expect, test } from "vitest";
import { json, mapped, user } from "./map-span.fixture.ts";

describe("S4: a text that is the input of a request", () => {
  const request = json({ model: "gpt-4o-mini", input: "hello", stream: true });
  test.each<[name: string, attributes: Record<string, unknown>]>([
    ["LangSmith", { "langsmith.span.kind": "llm", "gen_ai.prompt": request }],
    ["OpenInference", { "openinference.span.kind": "LLM", "input.value": request }],
    ["MLflow", { "mlflow.spanType": json("LLM"), "mlflow.spanInputs": request }],
    ["Langfuse", { "langfuse.observation.type": "generation", "langfuse.observation.input": request }],
    ["Logfire", { "logfire.msg": "Responses", request_data: request }],
  ])("%s: is the user's message", (_name, attributes) => {
    expect(mapped(attributes)["prompt_messages"]).toEqual([user("hello")]);
  });

  test("an argument of this name is the input of a tool", () => {
    const body = mapped({ "openinference.span.kind": "TOOL", "input.value": json({ input: "hello" }) });
    expect([body["prompt_messages"], body["input"]]).toEqual([undefined, '{"input":"hello"}']);
  });
});

describe("S7: a failed call keeps its model and its parameters", () => {
  const failed = { status: { code: 2, message: "Error code: 429 - Rate limit reached" } };
  const request = { model: "gpt-4o-mini", temperature: 0.2, max_tokens: 50, messages: [user("hi")] };
  test.each<[name: string, attributes: Record<string, unknown>]>([
    [
      "llm.invocation_parameters",
      { "openinference.span.kind": "LLM", "llm.invocation_parameters": json({ ...request, messages: undefined }) },
    ],
    ["input.value", { "openinference.span.kind": "LLM", "input.value": json(request) }],
    [
      "MLflow's model",
      {
        "mlflow.spanType": json("CHAT_MODEL"),
        model: json("gpt-4o-mini"),
        temperature: 0.2,
        max_tokens: 50,
        "mlflow.spanInputs": json([user("hi")]),
      },
    ],
    [
      "MLflow's invocation_params",
      {
        "mlflow.spanType": json("CHAT_MODEL"),
        invocation_params: json({ ...request, messages: undefined }),
        "mlflow.spanInputs": json([[user("hi")]]),
      },
    ],
    ["mlflow.spanInputs", { "mlflow.spanType": json("CHAT_MODEL"), "mlflow.spanInputs": json(request) }],
    ["LangSmith's gen_ai.prompt", { "langsmith.span.kind": "llm", "gen_ai.prompt": json(request) }],
    ["Logfire's request_data", { "logfire.msg": "Chat", request_data: json(request) }],
  ])("%s", (_name, attributes) => {
    const body = mapped(attributes, failed);
    expect(body).toMatchObject({
      model: "gpt-4o-mini",
      temperature: 0.2,
      max_tokens: 50,
      status: "error",
      log_type: "chat",
      metadata: expect.not.objectContaining({ model: expect.anything(), temperature: expect.anything() }),
    });
  });

  test("the model that responded wins over the requested one", () => {
    const attributes = {
      "openinference.span.kind": "LLM",
      "llm.model_name": "gpt-4o-mini-2024-07-18",
      "input.value": json(request),
    };
    expect(mapped(attributes)).toMatchObject({ model: "gpt-4o-mini-2024-07-18" });
  });

  test("a parameter wins over the request that repeats it", () => {
    const attributes = {
      "openinference.span.kind": "LLM",
      "llm.invocation_parameters": json({ temperature: 1 }),
      "input.value": json(request),
    };
    expect(mapped(attributes)).toMatchObject({ temperature: 1, max_tokens: 50 });
  });

  test("arguments of a chain or a tool are not read as a call", () => {
    for (const kind of ["CHAIN", "TOOL", "AGENT"]) {
      const body = mapped({ "openinference.span.kind": kind, "input.value": json({ model: "T", temperature: 9 }) });
      expect([body["model"], body["temperature"]]).toEqual([undefined, undefined]);
    }
  });
});

describe("S8: the time to the first token is that of the first piece", () => {
  const at = (name: string, ms: number) => ({
    name,
    timeNs: 1_700_000_000_000_000_000n + BigInt(ms) * 1_000_000n,
    attributes: new Map(),
  });
  test.each([
    "First Token Stream Event",
    "gen_ai.content.completion.chunk",
    "llm.content.completion.chunk",
    "new_token",
    "ai.stream.firstChunk",
  ])("%s", (name) => {
    const events = [at("exception.handled", 10), at(name, 250), at(name, 120), at(name, 400)];
    const body = mapped({ "gen_ai.operation.name": "chat" }, { events });
    expect(body).toMatchObject({ time_to_first_token: 0.12, stream: true });
    const otelEvents = (body["metadata"] as Record<string, Array<{ name: string }>>)["otel.events"];
    expect(otelEvents?.map((event) => event.name)).toEqual(["exception.handled"]);
  });

  test("a piece before the start of the span is ignored", () => {
    const body = mapped({ "gen_ai.operation.name": "chat" }, { events: [at("First Token Stream Event", -5)] });
    expect(body["time_to_first_token"]).toBeUndefined();
  });

  test("a stated time wins", () => {
    const attributes = { "gen_ai.operation.name": "chat", "gen_ai.server.time_to_first_token": 0.5 };
    expect(mapped(attributes, { events: [at("First Token Stream Event", 250)] })["time_to_first_token"]).toBe(0.5);
  });
});

describe("S15: Logfire's message names the span", () => {
  const template = "Chat Completion with {request_data[model]!r}";
  const message = "Chat Completion with 'gpt-4o-mini'";
  test("with its values filled in", () => {
    const body = mapped({ "logfire.msg_template": template, "logfire.msg": message }, { name: template });
    expect(body["span_name"]).toBe(message);
    expect(body["metadata"]).not.toHaveProperty(["logfire.msg"]);
  });

  test.each<[name: string, attributes: Record<string, unknown>]>([
    ["a name that is not a template is kept", { "logfire.msg_template": template, "logfire.msg": message }],
    ["without a template", { "logfire.msg": message }],
    ["without a message", { "logfire.msg_template": "span" }],
  ])("%s", (_name, attributes) => {
    expect(mapped(attributes, { name: "span" })["span_name"]).toBe("span");
  });
});

describe("S16: a failed call of the Responses API is recognized by its request", () => {
  const failed = { status: { code: 2, message: "Error code: 429" } };
  test.each<[name: string, attributes: Record<string, unknown>]>([
    ["OpenInference", { "openinference.span.kind": "LLM", "input.value": json({ model: "m", input: "hi" }) }],
    [
      "LangSmith",
      { "langsmith.span.kind": "llm", "langsmith.metadata.ls_invocation_params": '{"use_responses_api":true}' },
    ],
    [
      "Logfire",
      { "gen_ai.operation.name": "chat", "logfire.msg_template": "Responses API with {gen_ai.request.model!r}" },
    ],
  ])("%s", (_name, attributes) => {
    expect(mapped(attributes, failed)["log_type"]).toBe("response");
  });

  test("a chat and an embedding are not recognized as one", () => {
    const chat = { "openinference.span.kind": "LLM", "input.value": json({ model: "m", messages: [user("hi")] }) };
    const embedding = { "openinference.span.kind": "EMBEDDING", "input.value": json({ model: "m", input: "hi" }) };
    expect([mapped(chat)["log_type"], mapped(embedding)["log_type"]]).toEqual(["chat", "embedding"]);
  });
});

test("OpenInference: the response id is that of the raw response", () => {
  const answered = (output: unknown) =>
    mapped({ "openinference.span.kind": "LLM", "output.value": json(output) })["response_id"];
  expect([answered({ id: "chatcmpl-1" }), answered({ response_id: "gem-1" }), answered("text")]).toEqual([
    "chatcmpl-1",
    "gem-1",
    undefined,
  ]);
});

test("LiteLLM: the parts of the counts are in the usage that Python printed", () => {
  const usage =
    "{'prompt_tokens': 120, 'completion_tokens': 30, 'total_tokens': 150, 'prompt_tokens_details': {'audio_tokens': None, 'cached_tokens': 64}}";
  const counts = { "gen_ai.usage.input_tokens": 120, "gen_ai.usage.output_tokens": 30 };
  const body = mapped({ ...counts, "metadata.usage_object": usage }, { scope: "litellm" });
  expect(body).toMatchObject({ prompt_tokens: 120, completion_tokens: 30, prompt_cache_hit_tokens: 64 });
  const other = mapped({ ...counts, "metadata.usage_object": "{'prompt': \"it's\"}" }, { scope: "litellm" });
  expect(other["metadata"]).toMatchObject({ "metadata.usage_object": "{'prompt': \"it's\"}" });
});
