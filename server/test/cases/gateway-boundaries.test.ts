import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { apiLimits } from "../../src/api/limits.ts";
import { completion, done, helloStream, question } from "../support/chat.ts";
import { form, type Part } from "../support/form.ts";
import { startTestGateway, upstreamKey, type TestGateway } from "../support/gateway.ts";
import { answers, head, startScriptedUpstream, type ScriptedUpstream } from "../support/scripted-upstream.ts";
import { testKeys } from "../support/test-app.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

let gateway: TestGateway;
let inside: ScriptedUpstream;
beforeAll(async () => {
  gateway = await startTestGateway();
  inside = await startScriptedUpstream();
});
afterAll(async () => {
  await gateway.stop();
  await inside.stop();
});
let client: TestClient;
beforeEach(async () => {
  client = (await gateway.app.newOrganization()).prod;
  gateway.upstream.script(answers(200, completion()));
  inside.script(answers(200, completion()));
});

const chat = (members: Row = {}): Row => ({ model: "gpt-4o", messages: [question], retries: 0, ...members });
const paths = ["/api/chat/completions", "/api/chat/completions/", "/v1/chat/completions", "/chat/completions"];

type Send = (path: string, credential_override?: Row) => Promise<Answer>;

const text: Send = (path, credential_override = {}) => {
  const model = path.includes("embeddings") ? "text-embedding-3-small" : "gpt-4o";
  return client.post(path, { model, input: "words", retries: 0, credential_override });
};

const audio: Send = (path, override = {}) => {
  const parts: Part[] = [
    ["file", "RIFF", { name: "a.wav" }],
    ["model", "whisper-1"],
    ["retries", "0"],
    ["credential_override", JSON.stringify(override)],
  ];
  const { bytes, type } = form(...parts);
  return client.post(path, bytes, { "content-type": type });
};

/** The other routes that call providers. */
const relayed: Array<[path: string, send: Send]> = [
  ["/api/embeddings", text],
  ["/v1/embeddings/", text],
  ["/api/responses", text],
  ["/v1/responses/", text],
  ["/api/audio/transcription", audio],
  ["/v1/audio/transcriptions/", audio],
];

describe("a URL of a caller", () => {
  const port = (): string => new URL(inside.url).port;

  test.each(paths)("that is private is refused on %s, and gets no request", async (path) => {
    const hosts = [
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f000001",
      "[::ffff:127.0.0.1]",
      "[::1]",
      "localhost",
      "0.0.0.0",
    ];
    const before = inside.requests.length;
    for (const host of hosts) {
      const override = { "gpt-4o": { api_key: "own", api_base: `http://${host}:${port()}/v1` } };
      const answer = await client.post(path, chat({ credential_override: override }));
      expect([host, answer.status]).toEqual([host, 400]);
      expect(answer.text).not.toContain(port());
    }
    expect(inside.requests.length).toBe(before);
  });

  test.each(relayed)("that is private is refused on %s too", async (path, send) => {
    const before = inside.requests.length;
    const override = { openai: { api_key: "own", api_base: `${inside.url}/v1` } };
    expect([path, (await send(path, override)).status]).toEqual([path, 400]);
    expect(inside.requests.length).toBe(before);
  });

  test.each([
    "http://169.254.169.254/latest/meta-data",
    "http://[fd00:ec2::254]/v1",
    "http://user@127.0.0.1/v1",
    "file:///etc/passwd",
    "gopher://127.0.0.1/",
  ])("is refused: %s", async (api_base) => {
    for (const params of [
      { credential_override: { "gpt-4o": { api_key: "own", api_base } } },
      { customer_credentials: { openai: { api_key: "own", api_base } } },
    ]) {
      const answer = await client.post(paths[0] ?? "", chat(params));
      expect(answer.status).toBe(400);
    }
  });

  test("never gets a key of the server", async () => {
    const seen = gateway.upstream.requests.length;
    const override = { "gpt-4o": { api_base: `${inside.url}/v1` } };
    const answer = await client.post(paths[0] ?? "", chat({ credential_override: override }));
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(gateway.upstream.requests.length).toBe(seen);
    expect(JSON.stringify(inside.requests)).not.toContain(upstreamKey);
  });
});

test("a redirect is not followed, on any route", async () => {
  const before = inside.requests.length;
  gateway.upstream.script(answers(302, "", { location: `${inside.url}/secret` }));
  const answered = [
    await client.post(paths[0] ?? "", chat()),
    ...(await Promise.all(relayed.map(([path, send]) => send(path)))),
  ];
  expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([424]));
  expect(inside.requests.length).toBe(before);
});

describe("headers", () => {
  const canaries = {
    cookie: "canary",
    "x-api-key": "canary",
    "x-goog-api-key": "canary",
    "api-key": "canary",
    "proxy-authorization": "canary",
    "x-forwarded-for": "canary",
    "x-data-svc-params": Buffer.from('{"custom_identifier":"canary"}').toString("base64"),
    "openai-organization": "canary",
    "x-svc-beta": "canary",
    traceparent: "canary",
  };

  test("of the caller do not reach the provider, which gets its own key and the few headers that a request needs", async () => {
    await client.post(paths[0] ?? "", chat(), canaries);
    const headers = gateway.upstream.requests.at(-1)?.headers ?? {};
    expect(Object.keys(headers).sort()).toEqual([
      "accept",
      "accept-encoding",
      "authorization",
      "connection",
      "content-length",
      "content-type",
      "host",
      "user-agent",
    ]);
    expect(headers["authorization"]).toBe(`Bearer ${upstreamKey}`);
    expect(JSON.stringify(headers)).not.toMatch(/canary/i);
  });

  test.each([false, true])("of the provider do not reach the caller (stream: %s)", async (stream) => {
    const theirs = {
      "set-cookie": "canary=1",
      server: "canary",
      "openai-organization": "canary",
      "cf-ray": "canary",
      "x-request-id": "canary",
      "x-ratelimit-remaining-requests": "canary",
    };
    gateway.upstream.script(
      stream
        ? async (connection) => {
            await connection.write(head(200, { "content-type": "text/event-stream", ...theirs }));
            await connection.write([...helloStream, done].join(""));
            return "close";
          }
        : answers(200, completion(), theirs),
    );
    const answer = await client.post(paths[0] ?? "", chat({ stream }));
    expect(answer.status).toBe(200);
    expect(JSON.stringify([...answer.headers])).not.toContain("canary");
    expect(answer.headers.get("x-request-id")).toMatch(/^[\w-]{36}$/);
  });
});

describe("parameters", () => {
  test("of the gateway never reach the provider, including metadata", async () => {
    const ours = {
      metadata: { a: 1 },
      customer_identifier: "c",
      customer_params: { customer_identifier: "c" },
      fallback_models: [],
      cache_enabled: false,
      retry_params: { retry_enabled: false },
      properties: { a: 1 },
      span_name: "s",
      weight: 1,
      variables: { a: "b" },
      request_breakdown: false,
      disable_log: false,
      respan_params: { metadata: {} },
      keywordsai_params: {},
    };
    const theirs = {
      max_tokens: 5,
      max_completion_tokens: 6,
      n: 3,
      logprobs: true,
      logit_bias: { "1": 2 },
      stop: ["a", "b"],
    };
    await client.post(paths[0] ?? "", chat({ ...ours, ...theirs }));
    const sent = JSON.parse(gateway.upstream.requests.at(-1)?.body ?? "") as Row;
    expect(sent).toEqual({ model: "gpt-4o", messages: [question], ...theirs });
  });
});

describe("large bodies", () => {
  test("up to the limit pass, and do not delay small requests", async () => {
    const url = `data:image/png;base64,${"A".repeat(10 * 1024 * 1024)}`;
    const large = chat({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] });
    const times: number[] = [];
    const small = async (): Promise<void> => {
      const started = performance.now();
      const answer: Answer = await client.post(paths[0] ?? "", chat());
      times.push(performance.now() - started);
      expect(answer.status).toBe(200);
    };
    for (let n = 0; n < 20; n += 1) await small();
    const alone = median(times.splice(0));
    const sent = client.post(paths[0] ?? "", large);
    for (let n = 0; n < 60; n += 1) await small();
    expect((await sent).status).toBe(200);
    expect(median(times)).toBeLessThan(Math.max(alone * 3, 60));
    expect(gateway.upstream.requests.some(({ body }) => body.includes(url))).toBe(true);
    const { results } = await client.waitForSpans(81);
    expect(results.every(({ status_code }) => status_code === 200)).toBe(true);
  });

  test("beyond it are 413 in JSON before the connection is closed", async () => {
    const socket = connect(Number(new URL(gateway.app.url).port), "127.0.0.1");
    await once(socket, "connect");
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKeys.prod}\r\n` +
        `content-type: application/json\r\ncontent-length: ${apiLimits.gatewayBodyBytes + 1}\r\n\r\n{"model":`,
    );
    const [bytes] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    const text = bytes.toString();
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text).toContain('"error":{"message":');
  });
});

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}
