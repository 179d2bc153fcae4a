import { expect, test } from "vitest";
import type { OtlpEvent } from "../export-request.ts";
import { json, mapped, system, tool, user, weatherCall } from "../map-span.fixture.ts";

const result = { role: "tool", tool_call_id: "c1", content: '{"t":18}' };
const calling = { role: "assistant", content: null, tool_calls: [weatherCall("c1")] };

test("Genkit's tool calls, reasoning and media", () => {
  const body = mapped({
    "genkit:name": "googleai/gemini",
    "genkit:metadata:subtype": "model",
    "genkit:sessionId": "s1",
    "genkit:input": json({
      messages: [
        {
          role: "user",
          content: [{ text: "look" }, { media: { url: "data:image/png;base64,AA", contentType: "image/png" } }],
        },
        { role: "model", content: [{ toolRequest: { name: "get_weather", ref: "c1", input: { city: "Paris" } } }] },
        { role: "tool", content: [{ toolResponse: { name: "get_weather", ref: "c1", output: { t: 18 } } }] },
      ],
      config: { topP: 0.9 },
    }),
    "genkit:output": json({ message: { role: "model", content: [{ reasoning: "hm" }, { text: "Sunny." }] } }),
  });
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA" } };
  expect(body).toMatchObject({
    thread_identifier: "s1",
    top_p: 0.9,
    prompt_messages: [{ role: "user", content: [{ type: "text", text: "look" }, image] }, calling, result],
    completion_message: { role: "assistant", content: "Sunny.", reasoning_content: "hm" },
  });
});

test("Google's ADK in JavaScript", () => {
  const config = {
    temperature: 0.5,
    maxOutputTokens: 9,
    systemInstruction: "Be brief.",
    tools: [
      { functionDeclarations: [{ name: "get_weather", description: "Weather", parameters: { type: "object" } }] },
    ],
  };
  const contents = [
    { role: "user", parts: [{ text: "Weather?" }] },
    { role: "model", parts: [{ functionCall: { id: "c1", name: "get_weather", args: { city: "Paris" } } }] },
    { role: "user", parts: [{ functionResponse: { id: "c1", name: "get_weather", response: { t: 18 } } }] },
  ];
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 17, thoughtsTokenCount: 2 };
  const body = mapped(
    {
      "gcp.vertex.agent.llm_request": json({ model: "gemini", config, contents }),
      "gcp.vertex.agent.llm_response": json({ content: { role: "model", parts: [{ text: "Sunny." }] }, usageMetadata }),
    },
    { scope: "gcp.vertex.agent", name: "call_llm" },
  );
  expect(body).toMatchObject({
    log_type: "chat",
    temperature: 0.5,
    max_tokens: 9,
    tools: [tool()],
    prompt_messages: [system("Be brief."), user("Weather?"), calling, result],
    completion_message: { role: "assistant", content: "Sunny." },
    completion_tokens: 7,
    total_tokens: 17,
    reasoning_tokens: 2,
  });
});

test("LiveKit's calls, a list of JSON texts", () => {
  const event = (name: string, attributes: Record<string, string | string[]>): OtlpEvent => ({
    name,
    timeNs: 1n,
    attributes: new Map(Object.entries(attributes)),
  });
  const calls = [
    json({ id: "c1", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } }),
  ];
  const events = [
    event("gen_ai.user.message", { content: "Weather?" }),
    event("gen_ai.assistant.message", { role: "assistant", tool_calls: calls }),
    event("gen_ai.tool.message", { content: '{"t":18}', id: "c1" }),
    event("gen_ai.choice", { role: "assistant", tool_calls: calls }),
  ];
  expect(mapped({}, { scope: "livekit-agents", name: "llm_request", events })).toMatchObject({
    log_type: "chat",
    prompt_messages: [user("Weather?"), calling, result],
    completion_message: calling,
  });
});
