import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { event } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers, streams } from "../support/scripted-upstream.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** Data that a provider stores for one key, if an organization has several keys. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

let client: TestClient;
let settings: string[];
beforeEach(async () => {
  client = (await gateway.app.newOrganization()).prod;
  settings = [];
  for (const name of ["a", "b", "c"]) await store(name);
  gateway.upstream.requests.length = 0;
});

async function store(name: string): Promise<void> {
  const made = await client.post("/api/providers/", { provider: "openai", name, api_key: `sk-stored-${name}-0123456` });
  settings.push(String((made.json as Row)["id"]));
}

const message = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "Hi." }] };
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAAB" };
const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: '{"id":"x"}' };
const response = {
  id: "resp_1",
  object: "response",
  status: "completed",
  output: [reasoning, message, call],
  metadata: { id: "mine" },
  usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12 },
};

const send = (members: Row): Promise<Answer> =>
  client.post("/v1/responses", { model: "gpt-4o", input: "Hi", retries: 0, ...members });
const keyOf = (n: number): string | undefined => gateway.upstream.requests.at(n)?.headers["authorization"];
const sent = (): Row => JSON.parse(gateway.upstream.requests.at(-1)?.body ?? "") as Row;

describe("P6: a response of one of several keys", () => {
  test.each([false, true])("is continued with that key, whatever names it (stream: %j)", async (stream) => {
    const whole = event({ type: "response.completed", response });
    const delta = event({ type: "response.output_text.delta", item_id: "msg_1", delta: "Hi." });
    const item = event({ type: "response.output_item.done", item: reasoning });
    for (let n = 0; n < 6; n += 1) {
      gateway.upstream.script(stream ? streams(delta, item, whole) : answers(200, response));
      const first = await send({ stream });
      expect(first.status).toBe(200);
      const key = keyOf(-1);
      const events = first.text.split("\n\n").filter((each) => each.startsWith("data: "));
      const answered = stream
        ? (JSON.parse(events.at(-1)?.slice(6) ?? "") as { response: Row }).response
        : (first.json as Row);
      const output = answered["output"] as Row[];
      // Calls are matched by an id of the caller's, which stays.
      expect([output[2]?.["call_id"], output[2]?.["arguments"], answered["metadata"]]).toEqual([
        "call_1",
        '{"id":"x"}',
        { id: "mine" },
      ]);
      const follows: Row[] = [
        { previous_response_id: answered["id"] },
        { input: [output[0], { role: "user", content: "Go on." }] },
        { input: [{ type: "item_reference", id: output[1]?.["id"] }] },
      ];
      const asUpstreamKnows: Row[] = [
        { previous_response_id: "resp_1" },
        { input: [reasoning, { role: "user", content: "Go on." }] },
        { input: [{ type: "item_reference", id: "msg_1" }] },
      ];
      for (const [i, follow] of follows.entries()) {
        gateway.upstream.script(answers(200, response));
        expect((await send(follow)).status).toBe(200);
        expect(keyOf(-1)).toBe(key);
        expect(sent()).toMatchObject(asUpstreamKnows[i] ?? {});
      }
    }
  });

  test("is reported as lost if that key is no longer stored", async () => {
    gateway.upstream.script(answers(200, response));
    const first = await send({});
    const index = ["a", "b", "c"].findIndex((name) => keyOf(-1)?.includes(`-${name}-`));
    await client.request("DELETE", `/api/providers/${settings[index]}/`);
    const before = gateway.upstream.requests.length;
    const answer = await send({ previous_response_id: (first.json as Row)["id"] });
    expect(answer).toMatchObject({
      status: 400,
      json: {
        error: { param: "previous_response_id", message: expect.stringContaining("key that is no longer stored") },
      },
    });
    expect(gateway.upstream.requests).toHaveLength(before);
  });

  test("continues if the key of the setting was replaced", async () => {
    gateway.upstream.script(answers(200, response));
    const first = await send({});
    const index = ["a", "b", "c"].findIndex((name) => keyOf(-1)?.includes(`-${name}-`));
    await client.request("PATCH", `/api/providers/${settings[index]}/`, { api_key: "sk-stored-new-0123456" });
    expect((await send({ previous_response_id: (first.json as Row)["id"] })).status).toBe(200);
    expect(keyOf(-1)).toContain("sk-stored-new");
  });

  test("with an unmarked id is searched with each key", async () => {
    gateway.upstream.script((connection, request) =>
      request.headers["authorization"]?.includes("-b-") === true
        ? answers(200, response)(connection, request)
        : answers(400, { error: { message: "Not found.", code: "previous_response_not_found" } })(connection, request),
    );
    expect((await send({ previous_response_id: "resp_0", retries: 2 })).status).toBe(200);
    expect(keyOf(-1)).toContain("-b-");
  });

  test("whose reasoning belongs to another key is sent without it", async () => {
    const foreign = { ...reasoning, encrypted_content: `${reasoning.encrypted_content}.kAAAAAAAA` };
    gateway.upstream.script(answers(200, response));
    const own = ((await send({})).json as { output: Row[] }).output[0];
    expect((await send({ input: [foreign, own, { role: "user", content: "Go on." }] })).status).toBe(200);
    expect(sent()["input"]).toEqual([reasoning, { role: "user", content: "Go on." }]);
  });
});

test("P6: with one key, responses are passed on byte for byte", async () => {
  for (const id of settings.slice(1)) await client.request("DELETE", `/api/providers/${id}/`);
  gateway.upstream.script(answers(200, response));
  expect((await send({})).text).toBe(JSON.stringify(response));
  const stream = event({ type: "response.completed", response });
  gateway.upstream.script(streams(stream));
  expect((await send({ stream: true })).text).toBe(stream);
});
