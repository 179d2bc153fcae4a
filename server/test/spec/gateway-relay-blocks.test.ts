import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { event } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { params } from "../support/messages.ts";
import { answers, streams, type Script } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** The provider's filter blocks a response of Responses or Messages, which are relayed. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

let client: TestClient;
beforeEach(async () => {
  client = (await gateway.app.newOrganization()).prod;
});

type Case = {
  path: string;
  models: [first: string, next: string];
  /** A response with `text`, or a blocked one if there is no text. */
  answer: (text: string, isFiltered?: boolean) => { whole: Row; events: string[] };
  /** The members of a request that name the fallback models. */
  next: (models: string[]) => { members: Row; headers: Record<string, string> };
  finish: string;
};

const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
const reasoning = { id: "rs_1", type: "reasoning", summary: [] };

const responses: Case = {
  path: "/v1/responses",
  models: ["gpt-4o", "gpt-4o-mini"],
  answer(text, isFiltered = text === "") {
    const content = text === "" ? [] : [{ type: "output_text", text }];
    const message = { id: "msg_1", type: "message", role: "assistant", status: "incomplete", content };
    const details = isFiltered ? { reason: "content_filter" } : null;
    const status = isFiltered ? "incomplete" : "completed";
    const whole = { id: "resp_1", object: "response", status, incomplete_details: details, usage };
    const response = { ...whole, output: [reasoning, message] };
    const place = { item_id: "msg_1", output_index: 1, content_index: 0 };
    return {
      whole: response,
      events: [
        event({ type: "response.created", response: { id: "resp_1", status: "in_progress", output: [] } }),
        event({ type: "response.output_item.added", output_index: 0, item: reasoning }),
        event({ type: "response.output_item.done", output_index: 0, item: reasoning }),
        event({ type: "response.output_item.added", output_index: 1, item: { ...message, content: [] } }),
        event({ type: "response.content_part.added", ...place, part: { type: "output_text", text: "" } }),
        ...(text === "" ? [] : [event({ type: "response.output_text.delta", ...place, delta: text })]),
        event({ type: isFiltered ? "response.incomplete" : "response.completed", response }),
      ],
    };
  },
  next: (models) => ({ members: { input: "Hi", fallback_models: models }, headers: {} }),
  finish: '"reason":"content_filter"',
};

const messages: Case = {
  path: "/v1/messages",
  models: ["claude-sonnet-4-5", "claude-haiku-4-5"],
  answer(text, isFiltered = text === "") {
    const content = text === "" ? [] : [{ type: "text", text }];
    const stop_reason = isFiltered ? "refusal" : "end_turn";
    const message = { id: "msg_1", type: "message", role: "assistant", model: "claude", stop_reason: null };
    const counted = { input_tokens: 100, output_tokens: 10 };
    const start = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
    const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } };
    const blocks = [start, delta, { type: "content_block_stop", index: 0 }];
    return {
      whole: { ...message, content, stop_reason, usage: counted },
      events: [
        event({ type: "message_start", message: { ...message, content: [], usage: { ...counted, output_tokens: 1 } } }),
        ...(text === "" ? [] : blocks.map(event)),
        event({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 10 } }),
        event({ type: "message_stop" }),
      ],
    };
  },
  next: (models) => ({
    members: { max_tokens: 10, messages: [{ role: "user", content: "Hi" }] },
    headers: params({ fallback_models: models }),
  }),
  finish: '"stop_reason":"refusal"',
};

/** The first model responds this way, all others say "Hello.". */
function script({ models, answer }: Case, stream: boolean, first: ReturnType<Case["answer"]>): void {
  const scriptOf = ({ whole, events }: ReturnType<Case["answer"]>): Script =>
    stream ? streams(...events) : answers(200, whole);
  gateway.upstream.script((connection, request) => {
    const isFirst = (JSON.parse(request.body) as Row)["model"] === models[0];
    return scriptOf(isFirst ? first : answer("Hello."))(connection, request);
  });
}

function send({ path, models, next }: Case, stream: boolean, others: string[]): Promise<Answer> {
  const { members, headers } = next(others);
  return client.post(path, { model: models[0], stream, ...members }, headers);
}

describe.each([
  ["responses", responses, false],
  ["responses, streamed", responses, true],
  ["messages", messages, false],
  ["messages, streamed", messages, true],
] as const)("P3: %s", (_what, of, stream) => {
  test("that a filter blocks fall back to the next model, and are charged", async () => {
    script(of, stream, of.answer(""));
    const answer = await send(of, stream, [of.models[1]]);
    expect([answer.status, answer.headers.get("x-spanway-model")]).toEqual([200, of.models[1]]);
    expect(answer.text).toContain("Hello.");
    expect(answer.text).not.toContain(of.finish);
    const span = await retrieveSpan(client, answer.headers.get("x-spanway-log-id"));
    expect(span["attempts"]).toMatchObject([
      { status_code: 200, error_message: expect.stringMatching(/filter|refus/i), cost: expect.any(Number) },
      { status_code: 200 },
    ]);
  });

  test("are the response if there is no fallback, or content was sent", async () => {
    for (const [delta, others] of [
      ["", []],
      ["Hel", [of.models[1]]],
    ] as const) {
      script(of, stream, of.answer(delta, true));
      const answer = await send(of, stream, [...others]);
      expect([answer.status, answer.headers.get("x-spanway-model")]).toEqual([200, of.models[0]]);
      expect(answer.text).toContain(of.finish);
      expect(answer.text).toContain(delta);
    }
  });

  test("that every model blocks end with the response of the last model", async () => {
    const { whole, events } = of.answer("");
    gateway.upstream.script(stream ? streams(...events) : answers(200, whole));
    const answer = await send(of, stream, [of.models[1]]);
    // The last model's response is returned, because no other is left.
    expect([answer.status, answer.headers.get("x-spanway-model")]).toEqual([200, of.models[1]]);
    expect(answer.text).toContain(of.finish);
  });
});

test("P3: a response that called a tool of the provider is not repeated", async () => {
  const { whole } = responses.answer("");
  const output = [{ id: "mcp_1", type: "mcp_call", name: "send_mail" }];
  script(responses, false, { whole: { ...whole, output }, events: [] });
  const answer = await send(responses, false, ["gpt-4o-mini"]);
  expect(answer.headers.get("x-spanway-model")).toBe("gpt-4o");
});

test("P3: a background response begins with its first item, because its caller may need its id immediately", async () => {
  const { whole, events } = responses.answer("");
  script(responses, true, { whole, events });
  const { members } = responses.next(["gpt-4o-mini"]);
  const answer = await client.post(responses.path, { model: "gpt-4o", stream: true, background: true, ...members });
  expect(answer.text).toBe(events.join(""));
});

test("P3: a response that was too long to buffer, and partly sent, is passed on unchanged", async () => {
  const { whole, events } = responses.answer("");
  const instructions = "x".repeat(300_000);
  const created = event({ type: "response.created", response: { id: "resp_1", instructions, output: [] } });
  script(responses, true, { whole, events: [created, ...events.slice(1)] });
  const answer = await send(responses, true, ["gpt-4o-mini"]);
  expect(answer.text).toBe([created, ...events.slice(1)].join(""));
});

describe("a whole response to a stream request", () => {
  test.each([
    ["responses", responses, "response.created", "response.completed"],
    ["messages", messages, "message_start", "message_stop"],
  ] as const)("is a stream of %s", async (_what, of, first, last) => {
    gateway.upstream.script(answers(200, of.answer("Hello.").whole));
    const answer = await send(of, true, []);
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    const types = [...answer.text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
    expect([types[0], types.at(-1)]).toEqual([first, last]);
    expect(answer.text).toContain('"Hello."');
  });
});
