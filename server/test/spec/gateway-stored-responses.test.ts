import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { event } from "../support/chat.ts";
import { createSpan } from "../support/spans.ts";
import { startTestGateway, upstreamKey, type TestGateway } from "../support/gateway.ts";
import { answers, streams, type Script } from "../support/scripted-upstream.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** Responses stored by their provider: requested with the key that created them, and with no other. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

let client: TestClient;
let tester: TestClient;
beforeEach(async () => {
  ({ prod: client, test: tester } = await gateway.app.newOrganization());
  stored.clear();
  gateway.upstream.script(keepResponses);
  gateway.upstream.requests.length = 0;
});

const store = (name: string, members: Row = {}): Promise<Answer> =>
  client.post("/api/providers/", { provider: "openai", name, api_key: `sk-stored-${name}-0123456`, ...members });

/** The responses that the provider stores, by id, each known only to the key that created it. */
const stored = new Map<string, string>();
const item = { id: "msg_1", type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] };
const notFound: Row = {
  error: { message: "Response with id 'it' not found.", type: "invalid_request_error", code: null },
};
const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
const keepResponses: Script = (connection, request) => {
  const key = request.headers["authorization"] ?? "";
  const [, id = "", below = ""] = /^\/v1\/responses\/([^/?]+)(\/\w+)?/.exec(request.path) ?? [];
  if (id === "") {
    const made = `resp_${stored.size}`;
    stored.set(made, key);
    const response = {
      id: made,
      object: "response",
      status: "completed",
      output: [{ ...item, role: "assistant" }],
      usage,
    };
    const isStream = (JSON.parse(request.body) as Row)["stream"] === true;
    return (
      isStream
        ? streams(event({ type: "response.created", response }), event({ type: "response.completed", response }))
        : answers(200, response)
    )(connection, request);
  }
  if (stored.get(id) !== key) return answers(404, notFound)(connection, request);
  if (request.method === "DELETE") stored.delete(id);
  const whole: Row = {
    id,
    object: "response",
    status: below === "/cancel" ? "cancelled" : "completed",
    output: [item],
    usage,
  };
  if (request.method === "DELETE") return answers(200, { id, object: "response", deleted: true })(connection, request);
  if (below === "/input_items")
    return answers(200, { object: "list", data: [item], first_id: item.id, last_id: item.id, has_more: false })(
      connection,
      request,
    );
  return answers(200, whole)(connection, request);
};

async function make(by: TestClient = client, members: Row = {}): Promise<string> {
  const answer = await by.post("/v1/responses", { model: "gpt-4o", input: "Hi", retries: 0, ...members });
  expect(answer.status).toBe(200);
  const [, id = ""] = /"id":"(resp_[^"]+)"/.exec(answer.text) ?? [];
  return id;
}

const last = (): { method: string; path: string; key: string | undefined } => {
  const request = gateway.upstream.requests.at(-1);
  return { method: request?.method ?? "", path: request?.path ?? "", key: request?.headers["authorization"] };
};

const operations: Array<[method: string, below: string, status: Row]> = [
  ["GET", "", { status: "completed" }],
  ["POST", "/cancel", { status: "cancelled" }],
  ["GET", "/input_items", { object: "list" }],
  ["DELETE", "", { deleted: true }],
];

describe("P6: a response of one of several keys", () => {
  beforeEach(async () => {
    for (const name of ["a", "b", "c"]) await store(name);
  });

  test.each(operations)("%s …%s uses the key that created it", async (method, below, status) => {
    for (let n = 0; n < 6; n += 1) {
      const id = await make();
      const { key } = last();
      const raw = id.replace(/\.k[\w-]{8}$/, "");
      expect(raw).not.toBe(id);
      const before = gateway.upstream.requests.length;
      const answer = await client.request(method, `/v1/responses/${id}${below}`);
      expect([answer.status, answer.json]).toEqual([200, expect.objectContaining(status)]);
      expect(last()).toEqual({ method, path: `/v1/responses/${raw}${below}`, key });
      expect(gateway.upstream.requests.length).toBe(before + 1);
      // The ids in the response can be sent back, too.
      const named = JSON.stringify(answer.json).match(/(?:resp|msg)_\d+[^"]*/g) ?? [];
      expect(named.length).toBeGreaterThan(0);
      for (const name of named) expect(name).toMatch(/\.k[\w-]{8}$/);
    }
  });

  test("is found without a mark, too, by the key that knows it", async () => {
    stored.set("resp_elsewhere", "Bearer sk-stored-c-0123456");
    expect(await client.get("/v1/responses/resp_elsewhere")).toMatchObject({
      status: 200,
      json: { id: "resp_elsewhere" },
    });
    expect(last().key).toContain("-c-");
  });

  test("pages continue at an item with a mark", async () => {
    const id = await make();
    const items = await client.get(`/v1/responses/${id}/input_items?limit=1&include[]=a`);
    const { last_id } = items.json as { last_id: string };
    await client.get(`/v1/responses/${id}/input_items?order=asc&after=${last_id}`);
    expect(last().path).toMatch(/\/input_items\?order=asc&after=msg_1$/);
  });

  test("returns the provider's message for its own error", async () => {
    const id = await make();
    gateway.upstream.script(answers(400, { error: { message: "Cannot cancel a synchronous response.", code: "no" } }));
    expect(await client.post(`/v1/responses/${id}/cancel`)).toMatchObject({
      status: 400,
      json: { error: { message: "Cannot cancel a synchronous response.", code: "no" } },
    });
    gateway.upstream.script(answers(401, { error: { message: "Bad key sk-stored-a-0123456" } }));
    const refused = await client.get(`/v1/responses/${id}`);
    expect(refused).toMatchObject({ status: 424, json: { error: { code: "upstream_authentication_failed" } } });
    expect(refused.text).not.toContain("sk-stored");
  });
});

describe("P6: another's response", () => {
  const unknown = (id: string): Row => ({
    status: 404,
    json: { error: { message: `Response with id '${id}' not found.`, type: "invalid_request_error", param: null } },
  });

  test.each(["resp_none", "resp_none.kAAAAAAAA", "a/../b", "%"])("an unknown id, %j, is OpenAI's 404", async (id) => {
    for (const name of ["a", "b"]) await store(name);
    for (const [method, below] of operations) {
      const answer = await client.request(method, `/v1/responses/${encodeURIComponent(id)}${below}`);
      expect(answer).toMatchObject(unknown(id));
    }
    expect(gateway.upstream.requests.every(({ path }) => path.startsWith("/v1/responses/"))).toBe(true);
  });

  test("is never found by another organization, with keys of its own or the server's", async () => {
    for (const keys of [["a", "b"], ["a"], []]) {
      for (const name of keys) await store(name);
      const id = await make();
      const raw = id.replace(/\.k[\w-]{8}$/, "");
      const stranger = (await gateway.app.newOrganization()).prod;
      for (const name of [id, raw]) {
        for (const [method, below] of operations)
          expect(await stranger.request(method, `/v1/responses/${name}${below}`)).toMatchObject(unknown(name));
      }
      expect(stored.has(raw)).toBe(true);
      expect((await client.get(`/v1/responses/${id}`)).status).toBe(200);
    }
  });

  test("is never found by a caller who writes a span that claims it", async () => {
    stored.set("resp_claimed", `Bearer ${upstreamKey}`);
    for (const log_method of [undefined, "gateway"])
      await createSpan(client, { response_id: "resp_claimed", model: "gpt-4o", output: "mine", log_method });
    for (const [method, below] of operations)
      expect(await client.request(method, `/v1/responses/resp_claimed${below}`)).toMatchObject(unknown("resp_claimed"));
    expect(stored.has("resp_claimed")).toBe(true);
  });

  test("is never found by a caller who appends the mark of the server's key to its id", async () => {
    await store("lab", { provider: "my-lab", base_url: `${gateway.upstream.url}/v1` });
    const own = await make(client, { fallback_models: ["my-lab/lab-1"] });
    const [mark = ""] = /\.k[\w-]{8}$/.exec(own) ?? [];
    expect(mark).not.toBe("");
    stored.set("resp_foreign", `Bearer ${upstreamKey}`);
    for (const [method, below] of operations)
      expect(await client.request(method, `/v1/responses/resp_foreign${mark}${below}`)).toMatchObject(
        unknown(`resp_foreign${mark}`),
      );
    expect(stored.has("resp_foreign")).toBe(true);
    expect((await client.get(`/v1/responses/${own}`)).status).toBe(200);
  });

  test("is never found by the other environment through the server's key", async () => {
    const id = await make();
    expect(await tester.get(`/v1/responses/${id}`)).toMatchObject(unknown(id));
    expect((await client.get(`/v1/responses/${id}`)).status).toBe(200);
  });
});

test("P6: a response of the other environment may be read with a key for both, but not changed", async () => {
  await store("both", { environment: null });
  const id = await make();
  expect((await tester.get(`/v1/responses/${id}`)).status).toBe(200);
  for (const [method, below] of operations.filter(([each]) => each !== "GET"))
    expect((await tester.request(method, `/v1/responses/${id}${below}`)).status).toBe(403);
  expect(stored.has(id)).toBe(true);
});

describe("P6: a response of the server's key", () => {
  test.each(operations)("%s …%s uses it for the organization that created it", async (method, below, status) => {
    const id = await make();
    const answer = await client.request(method, `/v1/responses/${id}${below}`);
    expect([answer.status, answer.json]).toEqual([200, expect.objectContaining(status)]);
    expect(last()).toEqual({ method, path: `/v1/responses/${id}${below}`, key: `Bearer ${upstreamKey}` });
  });

  test("is known from the first event of its stream", async () => {
    let goOn = (): void => undefined;
    const paused = new Promise<void>((resolve) => (goOn = resolve));
    const response = { id: "resp_live", object: "response", status: "in_progress", output: [] };
    gateway.upstream.script(async (connection, request) => {
      if (request.path !== "/v1/responses")
        return answers(200, { ...response, status: "cancelled" })(connection, request);
      await connection.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n");
      await connection.write(event({ type: "response.created", response }));
      await connection.write(event({ type: "response.output_text.delta", item_id: "m", delta: "Hi" }));
      await paused;
      await connection.write(event({ type: "response.completed", response: { ...response, usage } }));
      return "close";
    });
    const streamed = make(client, { stream: true, background: true });
    const cancel = (): Promise<Answer> => client.post("/v1/responses/resp_live/cancel");
    await expect.poll(async () => (await cancel()).json, { timeout: 5_000 }).toMatchObject({ status: "cancelled" });
    goOn();
    expect(await streamed).toBe("resp_live");
  });

  test("is available on every path", async () => {
    const id = await make();
    for (const root of ["/api/responses", "/responses", "/api/v1/responses"])
      expect((await client.get(`${root}/${id}`)).status).toBe(200);
  });
});

describe("the stream of a background response", () => {
  const events = (id: string, upTo = 3): string[] =>
    [
      { type: "response.created", sequence_number: 0, response: { id, status: "queued", output: [] } },
      { type: "response.output_text.delta", sequence_number: 1, item_id: "msg_1", delta: "北京" },
      { type: "response.completed", sequence_number: 2, response: { id, status: "completed", output: [item] } },
    ]
      .slice(0, upTo)
      .map((one) => `event: ${one.type}\n${event(one)}`);
  /** Streams of stored responses follow the script; everything else is as usual. */
  const streamsThem = (script: Script): void =>
    gateway.upstream.script((connection, request) => {
      const [, id = ""] = /^\/v1\/responses\/([^/?]+)/.exec(request.path) ?? [];
      const isTheirs = stored.get(id) === request.headers["authorization"];
      return (isTheirs ? script : keepResponses)(connection, request);
    });

  test("is passed on as it arrives, from the requested event on", async () => {
    const id = await make();
    streamsThem(streams(...events(id)));
    const answer = await client.get(`/v1/responses/${id}?stream=true&starting_after=0`);
    expect([answer.status, answer.text]).toEqual([200, events(id).join("")]);
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(last().path).toBe(`/v1/responses/${id}?stream=true&starting_after=0`);
    streamsThem(streams());
    expect(await client.get(`/v1/responses/${id}?stream=true&starting_after=9`)).toMatchObject({
      status: 200,
      text: "",
    });
  });

  test("P6: comes from the key that created it, with its mark", async () => {
    for (const name of ["a", "b", "c"]) await store(name);
    const id = await make();
    const { key } = last();
    const raw = id.replace(/\.k[\w-]{8}$/, "");
    streamsThem(streams(...events(raw)));
    const answer = await client.get(`/v1/responses/${id}?stream=true`);
    expect(last()).toEqual({ method: "GET", path: `/v1/responses/${raw}?stream=true`, key });
    const named = answer.text.match(/(?:resp|msg)_\d+[^"]*/g) ?? [];
    expect(named.length).toBe(4);
    for (const name of named) expect(name).toMatch(/\.k[\w-]{8}$/);
    // Without the mark, the key that knows it streams it.
    expect((await client.get(`/v1/responses/${raw}?stream=true`)).text).toBe(events(raw).join(""));
  });

  test("is refused with the provider's message; a truncated one ends in an error", async () => {
    const id = await make();
    const message = "This response cannot be streamed because it was not created with background=true.";
    streamsThem(answers(400, { error: { message, type: "invalid_request_error", param: "stream", code: null } }));
    expect(await client.get(`/v1/responses/${id}?stream=true`)).toMatchObject({
      status: 400,
      json: { error: { message, param: "stream" } },
    });
    streamsThem(async (connection) => {
      await connection.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n");
      await connection.write(events(id, 2).join(""));
      return "close";
    });
    const broken = await client.get(`/v1/responses/${id}?stream=true`);
    expect(broken.text.startsWith(events(id, 2).join(""))).toBe(true);
    expect(JSON.parse(broken.text.slice(events(id, 2).join("").length + "data: ".length))).toMatchObject({
      error: { type: "upstream_error" },
    });
    streamsThem(keepResponses);
    const whole = await client.get(`/v1/responses/${id}?stream=true`);
    expect(whole.text).toMatch(/^event: response.created\n[^]*\nevent: response.completed\n/);
    expect((await client.get("/v1/responses/resp_none?stream=true")).status).toBe(404);
  });

  test("is aborted when its caller disconnects", async () => {
    const { keys, prod } = await gateway.app.newOrganization();
    const id = await make(prod);
    let isClosed = false;
    streamsThem(async (connection) => {
      connection.socket.on("close", () => (isClosed = true));
      await connection.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n");
      await connection.write(events(id, 2).join(""));
      return "open";
    });
    const leaving = new AbortController();
    const answer = await fetch(new URL(`/v1/responses/${id}?stream=true`, gateway.app.url), {
      headers: { authorization: `Bearer ${keys.prod}` },
      signal: leaving.signal,
    });
    const reader = answer.body?.getReader();
    await reader?.read();
    leaving.abort();
    await expect.poll(() => isClosed, { timeout: 2_000 }).toBe(true);
  });
});
