import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chunk, completion, done, question } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { requestOf, reply } from "../support/messages.ts";
import { answers, streams, type Script } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import type { Answer, Row } from "../support/test-client.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const counts = { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 };
const inputsAlone = { prompt_tokens: 1000, total_tokens: 1000 };
const inputCounts = { input_tokens: 1000, output_tokens: 200, total_tokens: 1200 };
const chat = { model: "gpt-4o", messages: [question] };
const customer = { customer_identifier: "odd" };
const inHeader = { "x-data-svc-params": Buffer.from(JSON.stringify(customer)).toString("base64") };
/** Placeholder in a reply for the text that `oddly` inserts. */
const odd = "odd-member";

const response: Row = { id: "resp_1", object: "response", status: "completed", model: "gpt-4o", output: [] };

type Call = { path: string; body: Row; counts: Row; headers?: Record<string, string>; reply: (usage: Row) => Row };

const calls: Record<string, Call> = {
  chat: {
    path: "/api/chat/completions",
    body: { ...chat, ...customer },
    counts,
    reply: (usage) => completion({ usage }),
  },
  embeddings: {
    path: "/api/embeddings",
    body: { model: "text-embedding-3-small", input: "Hello", ...customer },
    counts: inputsAlone,
    reply: (usage) => ({ object: "list", data: [{ object: "embedding", index: 0, embedding: [0.5] }], usage }),
  },
  responses: {
    path: "/api/responses",
    body: { model: "gpt-4o", input: "Hello", ...customer },
    counts: inputCounts,
    reply: (usage) => ({ ...response, usage }),
  },
  messages: {
    path: "/v1/messages",
    body: requestOf(),
    headers: inHeader,
    counts: inputCounts,
    reply: (usage) => ({ ...reply, usage }),
  },
};

const usages: Record<string, string> = {
  "nests deep": nested(20_000),
  "holds very many values": `[${"1,".repeat(400_000)}1]`,
  "is very long": JSON.stringify("x".repeat(9_000_000)),
};

async function record(call: Call, script: Script): Promise<{ answer: Answer; span: Row }> {
  gateway.upstream.script(script);
  const answer = await gateway.app.prod.post(call.path, call.body, call.headers);
  return { answer, span: await retrieveSpan(gateway.app.prod, answer.headers.get("x-spanway-log-id")) };
}

const oddly = (body: unknown, text: string): string => JSON.stringify(body).replace(JSON.stringify(odd), () => text);

describe("a usage that does not fit into a span", () => {
  const cases = Object.keys(calls).flatMap((name) => Object.keys(usages).map((what): [string, string] => [name, what]));
  test.each(cases)("of %s that %s affects neither the span nor its cost", async (name, what) => {
    const call = calls[name] as Call;
    const { span: plain } = await record(call, answers(200, call.reply(call.counts)));
    const { answer, span } = await record(
      call,
      answers(200, oddly(call.reply({ beside: odd, ...call.counts }), usages[what] ?? "")),
    );
    expect([answer.status, span["status_code"], span["customer_identifier"]]).toEqual([200, 200, "odd"]);
    expect([span["prompt_tokens"], span["cost"]]).toEqual([1000, plain["cost"]]);
    expect(span["cost"]).toBeGreaterThan(0);
  });

  test("of a stream affects neither", async () => {
    const call = { ...(calls["chat"] as Call), body: { ...chat, ...customer, stream: true } };
    const last = oddly({ choices: [], usage: { beside: odd, ...counts } }, nested(20_000));
    const { span } = await record(
      call,
      streams(chunk({ role: "assistant", content: "Hello." }), chunk({}, "stop"), `data: ${last}\n\n`, done),
    );
    expect([span["status_code"], span["customer_identifier"], span["prompt_tokens"]]).toEqual([200, "odd", 1000]);
    expect(span["cost"]).toBeGreaterThan(0);
  });
});

describe("a reply that nests too deep to be serialized again", () => {
  const tool = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: odd } }],
  };
  const deepTool = oddly(
    completion({ choices: [{ index: 0, message: tool, finish_reason: "tool_calls" }] }),
    nested(20_000),
  );
  const deepDelta = oddly(
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...tool.tool_calls[0] }] }, finish_reason: null }] },
    nested(20_000),
  );
  const deepUse = oddly(
    { ...reply, content: [{ type: "tool_use", id: "a", name: "f", input: odd }] },
    `{"a":${nested(20_000)}}`,
  );

  test.each<[string, Row, string, Script]>([
    ["a whole reply to a stream", { ...chat, stream: true }, "gpt-4o", answers(200, deepTool)],
    ["a stream", { ...chat, stream: true }, "gpt-4o", streams(`data: ${deepDelta}\n\n`, done)],
    [
      "a message of Anthropic",
      { ...chat, model: "claude-sonnet-4-6", max_tokens: 9 },
      "claude-sonnet-4-6",
      answers(200, deepUse),
    ],
    [
      "a message of Anthropic to a stream",
      { ...chat, model: "claude-sonnet-4-6", max_tokens: 9, stream: true },
      "claude-sonnet-4-6",
      answers(200, deepUse),
    ],
  ])("is a fault of the provider, for %s: another model answers", async (_what, body, model, script) => {
    gateway.upstream.script((connection, request) =>
      request.body.includes(JSON.stringify(model))
        ? script(connection, request)
        : answers(200, completion())(connection, request),
    );
    const refused = await gateway.app.prod.post("/api/chat/completions", { ...body, retries: 0 });
    expect([refused.status, refused.text]).toEqual([424, expect.stringContaining("nests too deep")]);
    const other = await gateway.app.prod.post("/api/chat/completions", {
      ...body,
      retries: 0,
      fallback_models: ["gpt-4.1-mini"],
    });
    expect([other.status, other.headers.get("x-spanway-model")]).toEqual([200, "gpt-4.1-mini"]);
  });
});
