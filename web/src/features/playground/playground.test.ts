import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { noAnswer, withChunk, type Answer } from "./answer.ts";
import { blankDraft, readDraft } from "./draft.ts";
import { draftOfSpan } from "./from-span.ts";
import { readEvents } from "./read-stream.ts";
import { snippetOf } from "./snippet.ts";

const user = { role: "user", content: "it's “quoted” $HOME \\n `id`\n🦊" };

test("a span's call is restored completely: parts, tool calls, tools and parameters", () => {
  const messages = [
    { role: "user", content: [{ type: "text", text: "look" }] },
    { role: "assistant", content: null, tool_calls: [{ id: "c1", function: { name: "f", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "c1", content: "42" },
  ];
  const tools = [{ type: "function", function: { name: "f" } }];
  const span = { model: "gpt-4o", prompt_messages: messages, tools, temperature: 0, max_tokens: 9, n: null };
  const draft = draftOfSpan("s1", { ...span, full_request: { seed: 7, metadata: { not: "a parameter" } } });
  expect(draft.models).toMatchObject([{ name: "gpt-4o" }]);
  expect(readDraft(draft)).toEqual({ body: { messages, tools, temperature: 0, max_tokens: 9, seed: 7 }, problems: {} });
});

test("input that cannot be sent is reported at its field", () => {
  const message = { id: 4, role: "user", content: "[", isJson: true, more: "" };
  const draft = { ...blankDraft(), messages: [message], tools: "{}", more: "[1]", temperature: "warm" };
  expect(Object.keys(readDraft(draft).problems).toSorted()).toEqual(["message 4", "more", "temperature", "tools"]);
});

test("events are parsed wherever the bytes are split, even within a character", async () => {
  const bytes = new TextEncoder().encode('data: {"a":"🦊"}\r\n\r\n: ping\n\ndata: {"b":1}\n\ndata: [DONE]\n\n');
  const stream = new ReadableStream<Uint8Array>({
    start(control) {
      for (const byte of bytes) control.enqueue(Uint8Array.of(byte));
      control.close();
    },
  });
  const events = [];
  for await (const some of readEvents(stream)) events.push(...some);
  expect(events).toEqual([{ a: "🦊" }, { b: 1 }]);
});

test("an answer grows with its chunks", () => {
  const delta = (value: object) => ({ choices: [{ index: 0, delta: value }] });
  const call = (value: object) => delta({ tool_calls: [{ index: 0, ...value }] });
  const chunks = [
    delta({ role: "assistant", content: "Hel" }),
    delta({ content: "lo" }),
    call({ id: "c1", function: { name: "f", arguments: '{"a"' } }),
    call({ function: { arguments: ":1}" } }),
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } },
    { choices: [], request_breakdown: { cost: 0.5, latency: 1.25, prompt_tokens: null } },
  ];
  expect(chunks.reduce<Answer>(withChunk, noAnswer)).toMatchObject({
    choices: [{ content: "Hello", tool_calls: [{ id: "c1", function: { name: "f", arguments: '{"a":1}' } }] }],
    promptTokens: 3,
    completionTokens: 2,
    cost: 0.5,
    latency: 1.25,
  });
  expect(withChunk(noAnswer, { error: { message: "broke off" } }).failure).toBe("broke off");
});

describe("a call as code", () => {
  const call = {
    origin: "http://spanway.invalid",
    environment: "prod",
    body: { model: "m", messages: [user] },
  } as const;

  test("curl sends exactly the body through a shell", () => {
    const script = `curl() { printf %s "\${@: -1}"; }\n${snippetOf("curl", call)}`;
    const sent = execFileSync("bash", ["-c", script], { env: {}, encoding: "utf8" });
    expect(JSON.parse(sent)).toEqual(call.body);
    expect(script).toContain('"Authorization: Bearer $SPANWAY_PROD_KEY"');
  });

  test("Python has its own literals, and passes members unknown to its SDK in extra_body", () => {
    const code = snippetOf("python", { ...call, body: { ...call.body, n: null, customer_identifier: "acme" } });
    expect(code).toContain("n=None,");
    expect(code).toMatch(/extra_body=\{\s+"customer_identifier": "acme",\s+\},/);
    expect(code).toContain('api_key=os.environ["SPANWAY_PROD_KEY"]');
  });

  test("the test environment uses another key", () => {
    expect(snippetOf("node", { ...call, environment: "test" })).toContain("process.env.SPANWAY_TEST_KEY");
  });
});
