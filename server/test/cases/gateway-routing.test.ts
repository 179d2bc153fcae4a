import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { chunk, completion, done, event, helloStream, question } from "../support/chat.ts";
import { startTestGateway, upstreamKey, type TestGateway } from "../support/gateway.ts";
import {
  answers,
  startScriptedUpstream,
  streams,
  type Script,
  type ScriptedUpstream,
} from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** Which upstream is called, how often, when, and with which key. */

let gateway: TestGateway;
let openai: ScriptedUpstream;
/** The upstream to which the operator's Groq base URL points. */
let groq: ScriptedUpstream;
/** A private host that the configuration allows callers and organizations to use, and one that it does not. */
let allowed: ScriptedUpstream;
let forbidden: ScriptedUpstream;
beforeAll(async () => {
  [groq, allowed, forbidden] = await Promise.all([
    startScriptedUpstream(),
    startScriptedUpstream(),
    startScriptedUpstream(),
  ]);
  gateway = await startTestGateway({
    GROQ_API_KEY: "gsk-of-the-instance",
    GROQ_BASE_URL: `${groq.url}/v1`,
    SPANWAY_ALLOW_PRIVATE_UPSTREAMS: new URL(allowed.url).host,
  });
  openai = gateway.upstream;
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([groq, allowed, forbidden].map((upstream) => upstream.stop()));
});

let prod: TestClient;
let testing: TestClient;
beforeEach(async () => {
  // Each test has its own organization, and so credentials that have not failed yet.
  ({ prod, test: testing } = await gateway.app.newOrganization());
  for (const upstream of [openai, groq, allowed, forbidden]) {
    upstream.requests.length = 0;
    upstream.script(answers(200, completion()));
  }
});

const path = "/api/chat/completions";
const call = (members: Row = {}, client = prod, headers: Record<string, string> = {}): Promise<Answer> =>
  client.post(path, { model: "gpt-4o", messages: [question], ...members }, headers);
const problem = (status: number, message: string, headers: Record<string, string> = {}): Script =>
  answers(status, { error: { message, type: "error", param: null, code: null } }, headers);
const keysSeen = (upstream: ScriptedUpstream): string[] =>
  upstream.requests.map(({ headers }) => (headers["authorization"] ?? "none").replace("Bearer ", ""));
const fallback = { fallback_models: ["groq/llama-3.3-70b-versatile"] };

/** One script per request, the last one for all further requests; records the gaps between requests. */
function inTurn(...scripts: Script[]): { script: Script; gapsMs: () => number[] } {
  const times: number[] = [];
  const script: Script = (connection, request) => {
    times.push(performance.now());
    return (scripts[times.length - 1] ?? scripts.at(-1))?.(connection, request);
  };
  return { script, gapsMs: () => times.slice(1).map((time, n) => time - (times[n] ?? 0)) };
}

describe("an error within a stream, before any content", () => {
  const overloaded = event({ error: { message: "Overloaded", type: "overloaded_error", code: 529 } });
  const inChoice = { choices: [{ index: 0, delta: {}, error: { code: 502, message: "Overloaded" } }] };
  test.each<[string, Script]>([
    ["as its first event", streams(overloaded)],
    ["after empty deltas", streams(chunk({ role: "assistant", content: "" }), chunk({}), overloaded)],
    ["in a choice", streams(chunk({}, null, inChoice))],
    ["as the finish of a choice", streams(chunk({}, "error"), done)],
    ["as an object that is one", streams(event({ object: "error", message: "Overloaded", type: "x", code: 503 }))],
    ["below x_groq", streams(chunk({}, null, { choices: [], x_groq: { id: "r", error: "Overloaded" } }), done)],
  ])("%s leads to the fallback, and the caller sees only its answer", async (_what, script) => {
    openai.script(script);
    groq.script(streams(...helloStream, done));
    const answer = await call({ stream: true, retries: 0, ...fallback });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('"lo."');
    expect(answer.text).not.toContain("Overloaded");
    expect([openai.requests.length, groq.requests.length]).toEqual([1, 1]);
  });

  test.each<[string, Row]>([
    ["in a choice", { choices: [{ index: 0, error: { code: 502, message: "Overloaded" }, message: { content: "" } }] }],
    ["as its finish", { choices: [{ index: 0, finish_reason: "error", message: { content: "" } }] }],
    ["as an object that is one", { object: "error", message: "Overloaded", code: 503, choices: [] }],
  ])("also in a whole answer: %s", async (_what, members) => {
    openai.script(answers(200, completion(members)));
    const answer = await call({ retries: 0, ...fallback });
    expect([answer.status, answer.headers.get("x-spanway-provider")]).toEqual([200, "groq"]);
  });

  test.each([{ error: {} }, { error: "" }, { error: 0 }, { error: null }, { error: false }])(
    "an empty error member is ignored: %j",
    async (members) => {
      openai.script(answers(200, completion(members)));
      expect((await call({ retries: 0 })).status).toBe(200);
    },
  );

  test("everywhere is 424 in JSON, not a stream", async () => {
    openai.script(streams(overloaded));
    groq.script(streams(overloaded));
    const answer = await call({ stream: true, retries: 0, ...fallback });
    expect(answer).toMatchObject({ status: 424, json: { error: { message: expect.stringContaining("Overloaded") } } });
  });
});

describe("retries", () => {
  const busy = (headers: Record<string, string>): Script => problem(429, "Slow down.", headers);
  const ok = answers(200, completion());

  test("wait as long as each response states, not only the first", async () => {
    const turn = inTurn(busy({ "retry-after-ms": "150" }), busy({ "retry-after-ms": "400" }), ok);
    openai.script(turn.script);
    const answer = await call({ ...fallback });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-spanway-attempts")).toBe("3");
    const [first = 0, second = 0] = turn.gapsMs();
    expect(first).toBeGreaterThanOrEqual(149);
    expect(second).toBeGreaterThanOrEqual(399);
    expect(groq.requests).toEqual([]);
  });

  test.each<[string, Record<string, string>, number]>([
    ["seconds", { "retry-after": "1" }, 1_000],
    ["a date", { "retry-after": "Sun, 06 Nov 1994 08:49:38 GMT", date: "Sun, 06 Nov 1994 08:49:37 GMT" }, 1_000],
    ["milliseconds before seconds", { "retry-after-ms": "300", "retry-after": "20" }, 300],
  ])("read %s", async (_what, headers, atLeastMs) => {
    const turn = inTurn(busy(headers), ok);
    openai.script(turn.script);
    expect((await call()).status).toBe(200);
    const [gapMs = 0] = turn.gapsMs();
    expect(gapMs).toBeGreaterThanOrEqual(atLeastMs - 1);
    expect(gapMs).toBeLessThan(atLeastMs * 2 + 1_000);
  });

  test("use Retry-After as a date if the response states no delay of its own", async () => {
    const inTwoSeconds = (): string => new Date(Date.now() + 2_000).toUTCString();
    const turn = inTurn((...seen) => busy({ "retry-after": inTwoSeconds() })(...seen), ok);
    openai.script(turn.script);
    expect((await call()).status).toBe(200);
    // Dates have whole seconds.
    expect(turn.gapsMs()[0]).toBeGreaterThanOrEqual(900);
  });

  test.each(["-5", "soon", "", "1e9", "99999999999"])("use their own backoff for %j", async (value) => {
    const turn = inTurn(busy({ "retry-after": value }), ok);
    openai.script(turn.script);
    expect((await call()).status).toBe(200);
    const [gapMs = 0] = turn.gapsMs();
    expect(gapMs).toBeGreaterThanOrEqual(99);
    expect(gapMs).toBeLessThan(2_000);
  });

  test("do not wait for an hour: the fallback responds immediately", async () => {
    openai.script(busy({ "retry-after": "3600" }));
    const startedMs = performance.now();
    expect((await call({ ...fallback })).status).toBe(200);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    expect([openai.requests.length, groq.requests.length]).toEqual([1, 1]);
  });

  test("are bounded: (retries + 1) × models", async () => {
    openai.script(problem(500, "Broken."));
    groq.script(problem(503, "Broken as well."));
    const retry_params = { retry_enabled: true, num_retries: 2, retry_after: 0.001 };
    const answer = await call({ retry_params, ...fallback });
    // The caller needs the first cause.
    expect(answer).toMatchObject({ status: 424, json: { error: { message: "Broken." } } });
    expect([openai.requests.length, groq.requests.length]).toEqual([3, 3]);
  });

  test("are made after a reset, and not at all if they are disabled", async () => {
    const turn = inTurn((connection) => {
      connection.reset();
      return undefined;
    }, ok);
    openai.script(turn.script);
    expect((await call()).status).toBe(200);
    openai.requests.length = 0;
    openai.script(problem(500, "Broken."));
    expect((await call({ retry_params: { retry_enabled: false } })).status).toBe(424);
    expect(openai.requests.length).toBe(1);
  });
});

describe("a key of the server that is rejected", () => {
  const store = (api_key: string) => prod.post("/api/providers/", { provider: "openai", api_key });
  const refusals: Array<[number, string]> = [
    [401, "Incorrect API key provided."],
    [402, "Payment required."],
    [403, "Your account is not active."],
    [400, "Your credit balance is too low to access the API."],
  ];

  test.each(refusals)("by %i %s falls back to the next key", async (status, message) => {
    await Promise.all([store("sk-stored-dead-0123456789"), store("sk-stored-live-0123456789")]);
    openai.script((connection, request) => {
      const isDead = request.headers["authorization"]?.includes("dead") === true;
      return (isDead ? problem(status, message) : answers(200, completion()))(connection, request);
    });
    for (let n = 0; n < 6; n += 1) expect((await call()).status).toBe(200);
    const seen = keysSeen(openai);
    // After the rejection, it is in cool-down.
    expect(seen.filter((key) => key.includes("dead")).length).toBeLessThanOrEqual(1);
    expect(seen.filter((key) => key.includes("live"))).toHaveLength(6);
  });

  test.each(refusals)("by %i %s falls back to the next model, and is 424 without one", async (status, message) => {
    openai.script(problem(status, message));
    expect((await call(fallback)).status).toBe(200);
    expect(openai.requests).toHaveLength(1);
    const answer = await call();
    expect(answer.status).toBe(424);
    expect(answer.text).not.toContain(upstreamKey);
  });
});

test("P3: a request that every model rejects is tried once with each, and ends with the first cause", async () => {
  openai.script(problem(400, "Unknown role: narrator."));
  groq.script(problem(400, "No such role."));
  const answer = await call(fallback);
  expect(answer).toMatchObject({ status: 400, json: { error: { message: expect.stringContaining("narrator") } } });
  expect([openai.requests.length, groq.requests.length]).toEqual([1, 1]);
});

test("a retired model falls back", async () => {
  openai.script(problem(404, "The model does not exist."));
  expect((await call(fallback)).status).toBe(200);
  expect([openai.requests.length, groq.requests.length]).toEqual([1, 1]);
});

describe("the span has the result of each attempt", () => {
  const spanOf = (answer: Answer): Promise<Row> => retrieveSpan(prod, answer.headers.get("x-spanway-log-id"));

  test("of a call that a fallback served, in order, without the keys that an upstream quotes", async () => {
    openai.script(problem(429, "Slow down, sk-proj-abcdefghijklmnop."));
    const answer = await call({
      ...fallback,
      retry_params: { retry_enabled: true, num_retries: 1, retry_after: 0.01 },
    });
    expect(answer.status).toBe(200);
    const busy = { provider: "openai", model: "gpt-4o", status_code: 429, error_message: "Slow down, [redacted]." };
    const span = await spanOf(answer);
    expect(span["attempts"]).toMatchObject([
      busy,
      busy,
      { provider: "groq", model: "llama-3.3-70b-versatile", status_code: 200, error_message: null },
    ]);
    expect(span).toMatchObject({
      model: "llama-3.3-70b-versatile",
      provider_id: "groq",
      status_code: 200,
      error_message: null,
    });
    for (const { latency } of span["attempts"] as Array<{ latency: number }>) {
      expect(latency).toBeGreaterThanOrEqual(0);
      expect(latency).toBeLessThan(span["latency"] as number);
    }
  });

  test("also if all failed, or there was no response at all, and never more than 16", async () => {
    openai.script((connection) => {
      connection.reset();
      return undefined;
    });
    groq.script(problem(500, "Oops."));
    const answer = await call({ fallback_models: Array.from({ length: 20 }, (_, n) => `groq/m-${n}`), retries: 0 });
    expect(answer.status).toBe(424);
    const attempts = (await spanOf(answer))["attempts"] as Row[];
    expect(attempts).toHaveLength(16);
    expect(attempts[0]).toMatchObject({
      provider: "openai",
      status_code: null,
      error_message: expect.stringContaining("reset"),
    });
    expect(attempts.at(-1)).toMatchObject({
      provider: "groq",
      model: "m-19",
      status_code: 500,
      error_message: "Oops.",
    });
  });

  test("without an upstream's message if no content is stored", async () => {
    openai.script(problem(500, "You said: the secret plan."));
    const span = await spanOf(await call({ ...fallback, retries: 0, disable_log: true }));
    expect(span["attempts"]).toMatchObject([
      { status_code: 500, error_message: "The attempt failed." },
      { status_code: 200 },
    ]);
    expect(JSON.stringify(span)).not.toContain("secret plan");
  });

  test("a rejected server key is reported as such, an immediate success lists no attempts", async () => {
    openai.script(problem(401, "Incorrect API key provided: sk-of-the-instance."));
    expect((await spanOf(await call(fallback)))["attempts"]).toMatchObject([
      { status_code: 401, error_message: "The provider refused the credential in use." },
      { status_code: 200 },
    ]);
    expect((await spanOf(await call({ model: "groq/llama-3.3-70b-versatile" })))["attempts"]).toBeNull();
  });

  test("of embeddings too", async () => {
    const reply = { object: "list", data: [], model: "m", usage: { prompt_tokens: 1, total_tokens: 1 } };
    openai.script(inTurn(problem(503, "Busy."), answers(200, reply)).script);
    const answer = await prod.post("/api/embeddings", { model: "text-embedding-3-small", input: "a" });
    expect((await spanOf(answer))["attempts"]).toMatchObject([
      { status_code: 503, error_message: "Busy." },
      { status_code: 200 },
    ]);
  });
});

describe("which key", () => {
  test("customers' keys from a weighted list are drawn, and no other is used, even if they fail", async () => {
    const customer_credentials = [
      { credentials: { openai: { api_key: "sk-customer-a" } }, weight: 1 },
      { credentials: { openai: { api_key: "sk-customer-b" } }, weight: 1 },
      { credentials: { openai: { api_key: "sk-customer-c" } }, exclude_models: ["gpt-4o"] },
    ];
    for (let n = 0; n < 30; n += 1) await call({ customer_credentials });
    expect(new Set(keysSeen(openai))).toEqual(new Set(["sk-customer-a", "sk-customer-b"]));
    openai.requests.length = 0;
    openai.script(problem(401, "Incorrect API key provided."));
    expect((await call({ customer_credentials })).status).toBe(424);
    expect(new Set(keysSeen(openai))).toEqual(new Set(["sk-customer-a", "sk-customer-b"]));
  });

  test("an override uses its own key at its own URL, and none without a key", async () => {
    const api_base = `${allowed.url}/v1`;
    await call({ credential_override: { openai: { api_key: "sk-override" } } });
    expect(keysSeen(openai)).toEqual(["sk-override"]);
    await call({ credential_override: { "gpt-4o": { api_key: "sk-override", api_base } } });
    await call({ credential_override: { openai: { api_base } } });
    await call({ customer_credentials: { openai: { api_base } } });
    expect(keysSeen(allowed)).toEqual(["sk-override", "none", "none"]);
    expect(JSON.stringify(allowed.requests)).not.toContain(upstreamKey);
  });

  test("an override for one model leaves its fallback to the usual keys", async () => {
    openai.script(problem(401, "Incorrect API key provided."));
    await call({ ...fallback, credential_override: { "gpt-4o": { api_key: "sk-override" } } });
    expect([keysSeen(openai), keysSeen(groq)]).toEqual([["sk-override"], ["gsk-of-the-instance"]]);
  });

  test("stored keys only of the call's environment", async () => {
    const beta = { "x-svc-beta": "env-scoped-integrations-2026-03-28" };
    await prod.post("/api/providers/", { provider: "openai", api_key: "sk-stored-prod", environment: "prod" });
    await call({}, prod);
    await call({}, testing);
    await call({}, testing, beta);
    await testing.post("/api/providers/", { provider: "openai", api_key: "sk-stored-test", environment: "test" });
    await call({}, prod);
    await call({}, testing);
    await call({}, testing, beta);
    expect(keysSeen(openai)).toEqual([
      "sk-stored-prod",
      upstreamKey,
      upstreamKey,
      "sk-stored-prod",
      "sk-stored-test",
      "sk-stored-test",
    ]);
  });

  test("and of no other organization", async () => {
    await prod.post("/api/providers/", { provider: "openai", api_key: "sk-stored-mine" });
    const other = await gateway.app.newOrganization();
    await call({}, other.prod);
    expect(keysSeen(openai)).toEqual([upstreamKey]);
  });

  test("a change, a cool-down and a deletion apply to the next call", async () => {
    const made = await prod.post("/api/providers/", { provider: "openai", api_key: "sk-stored-one" });
    const setting = `/api/providers/${String((made.json as Row)["id"])}/`;
    await call();
    await prod.request("PATCH", setting, { api_key: "sk-stored-two" });
    await call();
    await prod.request("PATCH", setting, { is_enabled: false });
    await call();
    await prod.request("PATCH", setting, { is_enabled: true });
    await call();
    await prod.request("DELETE", setting);
    await call();
    const seen = ["sk-stored-one", "sk-stored-two", upstreamKey, "sk-stored-two", upstreamKey];
    expect(keysSeen(openai)).toEqual(seen);
  });

  test("a stored key is sent only to its own URL, which must not be private either", async () => {
    const own = { provider: "openai", api_key: "sk-stored-own", base_url: `${allowed.url}/v1` };
    const made = await prod.post("/api/providers/", own);
    await call();
    expect([keysSeen(allowed), keysSeen(openai)]).toEqual([["sk-stored-own"], []]);
    const setting = `/api/providers/${String((made.json as Row)["id"])}/`;
    const moved = await prod.request("PATCH", setting, { base_url: `${forbidden.url}/v1` });
    expect(moved.status).toBe(400);
    await prod.request("PATCH", setting, { base_url: `${forbidden.url}/v1`, api_key: "sk-stored-new" });
    expect((await call({ retries: 0 })).status).toBeGreaterThanOrEqual(400);
    expect(forbidden.requests).toEqual([]);
  });

  test("a custom server responds under its given name", async () => {
    const own = { provider: "my-vllm", base_url: `${allowed.url}/v1`, available_models: ["llama"] };
    await prod.post("/api/providers/", own);
    const answer = await call({ model: "my-vllm/llama" });
    expect(answer.headers.get("x-spanway-provider")).toBe("my-vllm");
    await call({ model: "llama" });
    expect(allowed.requests.map(({ body }) => (JSON.parse(body) as Row)["model"])).toEqual(["llama", "llama"]);
    expect(keysSeen(allowed)).toEqual(["none", "none"]);
  });
});

describe("invalid parameters are 400 and named", () => {
  test.each<[Row, string]>([
    [{ model: "gpt-4o", retry_params: { retry_enabled: true, tries: 3 } }, "retry_params"],
    [{ model: "gpt-4o", retry_params: { num_retries: 3 } }, "retry_params"],
    [{ model: "gpt-4o", retry_params: { retry_enabled: true, num_retries: 0 } }, "retry_params"],
    [{ model: "gpt-4o", exclude_models: ["gpt-4o"] }, "exclude_models"],
    [{ model: "gpt-4o", load_balance_models: [{ model: "gpt-4o", weight: 0 }] }, "load_balance_models"],
    [{ model: "gpt-4o", credential_override: { openai: { api_key: "a\nb" } } }, "credential_override.openai.api_key"],
  ])("%j", async (members, param) => {
    expect(await call(members)).toMatchObject({ status: 400, json: { error: { param } } });
    expect(openai.requests).toEqual([]);
  });

  test.each(["azure/.", "azure/..", "bedrock/..", "gemini/..", "gemini/models/../..", "gemini/tunedModels/./x"])(
    "%s: a name that changes the path",
    async (model) => {
      const provider = model.slice(0, model.indexOf("/"));
      const customer_credentials = { [provider]: { api_key: "k", api_base: allowed.url } };
      const answer = await call({ model, customer_credentials });
      expect(answer).toMatchObject({ status: 400, json: { error: { param: "model" } } });
      expect(allowed.requests).toEqual([]);
    },
  );
});
