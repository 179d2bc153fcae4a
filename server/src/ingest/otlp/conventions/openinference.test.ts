import { describe, expect, test } from "vitest";
import { assistant, json, mapped, system, tool, user, weatherCall } from "../map-span.fixture.ts";

const kind = "openinference.span.kind";

describe("OpenInference", () => {
  test("the completions API: texts as input and output", () => {
    const body = mapped({
      [kind]: "LLM",
      "llm.model_name": "gpt-3.5-turbo-instruct",
      "llm.prompts.0.prompt.text": "Say a",
      "llm.choices.0.completion.text": "a",
      "llm.choices.1.completion.text": "b",
      "input.value": json({ prompt: "Say a" }),
      "output.value": json({ choices: [] }),
    });
    expect(body).toMatchObject({
      prompt_messages: [user("Say a")],
      completion_message: assistant("a"),
      completion_messages: [assistant("a"), assistant("b")],
      metadata: { [kind]: "LLM" },
    });
    expect(body).not.toHaveProperty("input");
  });

  test("prompts as one list, as in LangChain and LlamaIndex", () => {
    expect(mapped({ [kind]: "LLM", "llm.prompts": ["Human: hi"] })).toMatchObject({
      prompt_messages: [user("Human: hi")],
      metadata: { [kind]: "LLM" },
    });
  });

  test("the items of a response are one message", () => {
    const output = "llm.output_messages";
    const body = mapped({
      [kind]: "LLM",
      [`${output}.0.message.role`]: "assistant",
      [`${output}.0.message.contents.0.message_content.type`]: "reasoning",
      [`${output}.0.message.contents.0.message_content.text`]: "hm",
      [`${output}.1.message.role`]: "assistant",
      [`${output}.1.message.tool_calls.0.tool_call.id`]: "c1",
      [`${output}.1.message.tool_calls.0.tool_call.function.name`]: "get_weather",
      [`${output}.1.message.tool_calls.0.tool_call.function.arguments`]: '{"city":"Paris"}',
      [`${output}.2.message.role`]: "assistant",
      [`${output}.2.message.content`]: "Let me see.",
    });
    expect(body["completion_message"]).toEqual({
      role: "assistant",
      content: "Let me see.",
      reasoning_content: "hm",
      tool_calls: [weatherCall("c1")],
    });
    expect(body).not.toHaveProperty("completion_messages");
  });

  test("a request and a response of which only the bodies are recorded", () => {
    const body = mapped({
      [kind]: "LLM",
      "input.value": json({
        instructions: "Be brief.",
        input: "Weather?",
        tools: [{ type: "function", name: "get_weather", description: "Weather", parameters: { type: "object" } }],
      }),
      "output.value": json({
        output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Sunny." }] }],
      }),
    });
    expect(body).toMatchObject({
      prompt_messages: [system("Be brief."), user("Weather?")],
      completion_message: assistant("Sunny."),
      tools: [tool()],
    });
  });

  test("parameters without a field are kept", () => {
    const body = mapped({
      [kind]: "LLM",
      "llm.model_name": "gpt-4o",
      "llm.invocation_parameters": json({ model: "gpt-4o", temperature: 0.5, seed: 7, top_k: 40, tools: [{}] }),
    });
    expect(body).toMatchObject({ temperature: 0.5 });
    expect(body["metadata"]).toEqual({ [kind]: "LLM", "llm.invocation_parameters": { seed: 7, top_k: 40 } });
    expect(
      mapped({
        [kind]: "EMBEDDING",
        "embedding.invocation_parameters": json({ dimensions: 5, encoding_format: "float" }),
      }),
    ).toMatchObject({ log_type: "embedding", dimensions: 5, encoding_format: "float", metadata: {} });
  });

  test("a retriever's results, stored once", () => {
    const document = "retrieval.documents.0.document";
    const body = mapped({
      [kind]: "RETRIEVER",
      "input.value": "Paris",
      "output.value": json([{ page_content: "Capital" }]),
      [`${document}.id`]: "d1",
      [`${document}.content`]: "Capital",
      [`${document}.score`]: 0.9,
      [`${document}.metadata`]: json({ source: "wiki" }),
    });
    expect(body).toMatchObject({
      log_type: "task",
      input: "Paris",
      output: [{ id: "d1", content: "Capital", score: 0.9, metadata: { source: "wiki" } }],
      metadata: { [kind]: "RETRIEVER" },
    });
  });

  test("input and output of a reranker", () => {
    const body = mapped({
      [kind]: "RERANKER",
      "reranker.model_name": "rerank-v3",
      "reranker.query": "Paris",
      "reranker.input_documents.0.document.content": "Capital",
      "reranker.output_documents.0.document.content": "Capital",
      "reranker.output_documents.0.document.score": 0.9,
    });
    expect(body).toMatchObject({
      model: "rerank-v3",
      input: { query: "Paris", documents: [{ content: "Capital" }] },
      output: [{ content: "Capital", score: 0.9 }],
    });
  });

  test("audio, and a managed prompt", () => {
    const part = "llm.input_messages.0.message.contents.0.message_content";
    const body = mapped({
      [kind]: "LLM",
      [`${part}.type`]: "audio",
      [`${part}.audio.audio.url`]: "https://example.com/a.wav",
      [`${part}.audio.audio.transcript`]: "hi",
      "prompt.id": "p1",
      "llm.prompt_template.version": "v2",
    });
    const audio = { url: "https://example.com/a.wav", transcript: "hi" };
    expect(body).toMatchObject({
      prompt_messages: [{ role: "user", content: [{ type: "audio", audio }] }],
      prompt_id: "p1",
      prompt_version_number: "v2",
    });
  });
});

test("tokens of images, and of a cache under its other name", () => {
  const body = mapped({
    "openinference.span.kind": "LLM",
    "llm.token_count.prompt": 300,
    "llm.token_count.completion": 90,
    "llm.token_count.prompt_details.cache_input": 40,
    "llm.token_count.prompt_details.image": 200,
    "llm.token_count.completion_details.image": 80,
  });
  expect(body).toMatchObject({
    prompt_cache_hit_tokens: 40,
    usage_details: { image_prompt_tokens: 200, image_completion_tokens: 80 },
  });
});
