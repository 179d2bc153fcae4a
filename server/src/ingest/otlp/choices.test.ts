import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assistant, json, mapped, system, user, weatherCall } from "./map-span.fixture.ts";
import type { OtlpEvent } from "./export-request.ts";
import { answersOf } from "../../messages/answers.ts";

/** Of several choices the one with index 0 is the completion message, and none is lost, in any order and form. */

const choices = [
  assistant("first"),
  { role: "assistant", content: null, tool_calls: [weatherCall("c2")] },
  assistant("third"),
];
const numbered = choices.map((message, index) => ({ index, message, finish_reason: "stop" }));
const expected = { completion_message: choices[0], completion_messages: choices };
const event = (name: string, attributes: Record<string, unknown>): OtlpEvent => ({
  name,
  timeNs: 1n,
  attributes: new Map(Object.entries(attributes)) as OtlpEvent["attributes"],
});

describe("choices in any order", () => {
  test.each<[string, (given: typeof numbered) => Record<string, unknown>]>([
    ["GenAI events", (given) => mapped({}, { events: given.map((choice) => event("gen_ai.choice", choice)) })],
    [
      "GenAI events with JSON text",
      (given) =>
        mapped(
          {},
          { events: given.map(({ index, message }) => event("gen_ai.choice", { index, message: json(message) })) },
        ),
    ],
    [
      "a chat completion in OpenInference",
      (given) => mapped({ "openinference.span.kind": "LLM", "output.value": json({ choices: given }) }),
    ],
    ["a chat completion in one attribute", (given) => mapped({ "gen_ai.completion": json({ choices: given }) })],
    ["choices in place of GenAI messages", (given) => mapped({ "gen_ai.output.messages": json(given) })],
    [
      "a chat completion in place of GenAI messages",
      (given) => mapped({ "gen_ai.output.messages": json({ choices: given }) }),
    ],
    ["a chat completion by hand", (given) => mapped({ output: json({ choices: given }) })],
    [
      "events as in logfire",
      (given) =>
        mapped(
          { events: json(given.map((choice) => ({ "event.name": "gen_ai.choice", ...choice }))) },
          { scope: "logfire" },
        ),
    ],
  ])("%s", (_name, map) => {
    fc.assert(
      fc.property(fc.shuffledSubarray(numbered, { minLength: 3 }), (given) => {
        expect(map(given)).toMatchObject(expected);
      }),
    );
  });

  test("choice numbers are not stored", () => {
    const messages = [
      { ...assistant("b"), choice: 1 },
      { ...assistant("a"), choice: 0 },
    ];
    expect(answersOf(messages, undefined)).toEqual({ answer: assistant("a"), all: [assistant("a"), assistant("b")] });
  });

  test("a stream of the Responses API, reported item by item, is one response", () => {
    const items = [
      { type: "reasoning", content: "hmm" },
      { type: "text", content: "Sunny." },
    ];
    const events = items.map((part) =>
      event("gen_ai.client.inference.operation.details", {
        "gen_ai.output.messages": [{ role: "assistant", parts: [part], finish_reason: "stop" }],
      }),
    );
    const body = mapped({ "gen_ai.operation.name": "chat" }, { events });
    expect(body["completion_message"]).toEqual({ ...assistant("Sunny."), reasoning_content: "hmm" });
    expect(body["completion_messages"]).toBeUndefined();
  });
});

describe("user input beside instructions of another vocabulary", () => {
  const agent = { "gen_ai.operation.name": "invoke_agent", "gen_ai.system_instructions": "Be brief." };
  test.each<[string, Record<string, unknown>]>([
    ["Mastra's text", { "mastra.span.type": "agent_run", "mastra.agent_run.input": "Weather?" }],
    ["Mastra's texts", { "mastra.span.type": "agent_run", "mastra.agent_run.input": json(["Weather?"]) }],
    ["Mastra's messages", { "mastra.span.type": "agent_run", "mastra.agent_run.input": json([user("Weather?")]) }],
    [
      "Mastra's request",
      { "mastra.span.type": "agent_run", "mastra.agent_run.input": json({ messages: [user("Weather?")] }) },
    ],
    ["an input by hand", { input: "Weather?" }],
    [
      "OpenLLMetry's",
      { "traceloop.span.kind": "agent", "traceloop.entity.input": json({ messages: [user("Weather?")] }) },
    ],
    ["OpenInference's", { "openinference.span.kind": "AGENT", "input.value": "Weather?" }],
  ])("%s", (_name, attributes) => {
    const body = mapped({ ...agent, ...attributes });
    expect(body).toMatchObject({ log_type: "agent", prompt_messages: [system("Be brief."), user("Weather?")] });
    expect(body["input"]).toBeUndefined();
  });

  test("an input that is not a conversation stays beside the instructions", () => {
    const body = mapped({
      ...agent,
      "mastra.span.type": "agent_run",
      "mastra.agent_run.input": json({ city: "Paris" }),
    });
    expect(body).toMatchObject({ prompt_messages: [system("Be brief.")], input: { city: "Paris" } });
  });
});
