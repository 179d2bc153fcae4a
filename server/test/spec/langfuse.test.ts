import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/evaluation.ts";
import { fixture, randomHex, traceOf } from "../support/otlp.ts";
import { startTestApp, testKeys, type TestApp } from "../support/test-app.ts";
import { createClient, type Answer, type ListAnswer, type Row, type TestClient } from "../support/test-client.ts";

/** S12: Langfuse's SDKs with only the URL and the keys changed. */

let app: TestApp;
let langfuse: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  langfuse = createClient(app.url);
});
afterAll(() => app.stop());

const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});
const keys = basic("pk-lf-1", testKeys.prod);
const post = (path: string, body: unknown, headers: Record<string, string> = keys) =>
  langfuse.post(path, body, headers);
const score = (body: Row) => post("/api/public/scores", body);

async function newTrace(): Promise<{ traceId: string; root: string; child: string }> {
  const [traceId, root, child] = [randomHex(32), randomHex(16), randomHex(16)];
  for (const span of [{ spanId: child, parentSpanId: root }, { spanId: root }]) {
    const sent = traceOf({ "gen_ai.request.model": "gpt-4o" }, { traceId, ...span });
    expect((await post("/api/public/otel/v1/traces", sent)).status).toBe(200);
  }
  return { traceId, root, child };
}

/** Waits for the scores of a span, by the slug of their evaluator. */
async function scoresOf(traceId: string, spanId: string): Promise<Row> {
  return eventually(async () => {
    const { results } = await app.prod.list({ trace_unique_id: [traceId], span_unique_id: [spanId] });
    const [row] = results;
    const listed =
      row && ((await app.prod.get(`/api/logs/${String(row["unique_id"])}/scores/`)).json as ListAnswer).results;
    return listed && listed.length > 0
      ? Object.fromEntries(listed.map((one) => [one["evaluator_slug"], one]))
      : undefined;
  });
}

describe("S12 the credential", () => {
  test.each(["", "/"])("spans are accepted on Langfuse's own path, with its headers%s", async (slash) => {
    const { body, headers } = fixture("captures", "langfuse--chat--proto.traces.001.pb");
    const own = { ...keys, ...headers, "x-langfuse-public-key": "pk-lf-1" };
    const answer = await langfuse.post(`/api/public/otel/v1/traces${slash}`, body, own);
    expect([answer.status, answer.text]).toEqual([200, ""]);
  });

  test.each([
    ["Bearer%20", `Bearer%20${testKeys.prod}`, 200],
    ["bearer, two blanks", `bearer  ${testKeys.prod}`, 200],
    ["Basic%20", basic("pk", testKeys.prod).authorization.replace(" ", "%20"), 200],
    ["Basic without a user", basic("", testKeys.prod).authorization, 200],
    ["the key as the user", basic(testKeys.prod, "").authorization, 401],
    ["another password", basic("pk", "sk-lf-1").authorization, 401],
    ["no colon", `Basic ${Buffer.from(testKeys.prod).toString("base64")}`, 401],
    ["no base64", "Basic ***", 401],
    ["a line break", basic("pk", `${testKeys.prod}\r\n`).authorization, 401],
    ["no blank", `Bearer${testKeys.prod}`, 401],
    ["another escape", `Bearer%09${testKeys.prod}`, 401],
  ])("%s", async (_name, authorization, status) => {
    expect((await post("/api/public/otel/v1/traces", { resourceSpans: [] }, { authorization })).status).toBe(status);
  });

  test.each(["traces", "logs", "metrics"])("%s have a path", async (signal) => {
    expect((await langfuse.post(`/api/public/otel/v1/${signal}`, undefined, keys)).status).toBe(200);
  });
});

describe.concurrent("S12 scores", () => {
  test.each<[string, Row, Row]>([
    ["a number", { value: 0.9 }, { numerical_value: 0.9, score_value_type: "numerical" }],
    ["0", { value: 0, dataType: "NUMERIC" }, { numerical_value: 0 }],
    ["a number as text", { value: "0.5", dataType: "NUMERIC" }, { numerical_value: 0.5 }],
    ["a boolean as 1", { value: 1, dataType: "BOOLEAN" }, { boolean_value: true, score_value_type: "boolean" }],
    ["a boolean as 0", { value: 0, dataType: "BOOLEAN" }, { boolean_value: false }],
    ["a category", { value: "not toxic" }, { string_value: "not toxic", score_value_type: "text" }],
    ["a text", { value: "1", dataType: "TEXT" }, { string_value: "1" }],
  ])("%s", async (_name, sent, expected) => {
    const { traceId, child } = await newTrace();
    const name = `kind-${randomHex(8)}`;
    const answer = await score({ traceId, observationId: child, name, comment: "why", ...sent });
    expect([answer.status, answer.json]).toEqual([200, { id: expect.any(String) }]);
    expect((await scoresOf(traceId, child))[name]).toMatchObject({ ...expected, explanation: "why" });
  });

  test("a score of a trace belongs to its root", async () => {
    const { traceId, root } = await newTrace();
    expect((await score({ traceId, name: "quality", value: 1 })).status).toBe(200);
    expect(await scoresOf(traceId, root)).toHaveProperty("quality");
  });

  test("a score that arrives before its trace waits for it, one of a span does not", async () => {
    const [traceId, spanId] = [randomHex(32), randomHex(16)];
    expect((await score({ traceId, observationId: spanId, name: "early", value: 2 })).status).toBe(200);
    const ofTrace = score({ traceId: traceId.toUpperCase(), name: "later", value: 3 });
    await sleep(500);
    await post("/api/public/otel/v1/traces", traceOf({}, { traceId, spanId }));
    expect((await ofTrace).status).toBe(200);
    expect(Object.keys(await scoresOf(traceId, spanId)).toSorted()).toEqual(["early", "later"]);
  });

  test("a score of a trace that never arrives is a 503", { timeout: 30_000 }, async () => {
    const answer = await score({ traceId: randomHex(32), name: "quality", value: 1 });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
  });

  test("a second score of a name replaces the first", async () => {
    const { traceId, child } = await newTrace();
    const sent = { traceId, observationId: child, name: "feedback" };
    const [first, second] = [await score({ ...sent, value: 1 }), await score({ ...sent, value: 5 })];
    expect(second.json).toEqual(first.json);
    expect((await scoresOf(traceId, child))["feedback"]).toMatchObject({ numerical_value: 5 });
  });

  test.each<[string, Row, string]>([
    ["no trace", { name: "a", value: 1 }, "traceId"],
    ["a session alone", { name: "a", value: 1, sessionId: "s" }, "traceId"],
    ["no name", { traceId: "a", value: 1 }, "name"],
    ["no value", { traceId: "a", name: "a" }, "value"],
    ["an unknown type", { traceId: "a", name: "a", value: 1, dataType: "STARS" }, "dataType"],
  ])("400 names the field: %s", async (_name, body, field) => {
    const answer = await score(body);
    expect([answer.status, Object.keys((answer.json as Row)["errors"] ?? answer.json!)]).toEqual([
      400,
      expect.arrayContaining([field]),
    ]);
  });

  test("a value of a different type than the evaluator's is refused", async () => {
    const { traceId, root, child } = await newTrace();
    const name = `typed-${randomHex(8)}`;
    expect((await score({ traceId, observationId: root, name, value: 1 })).status).toBe(200);
    expect((await score({ traceId, observationId: child, name, value: "good" })).status).toBe(400);
  });

  test("a key that only writes spans may not score", async () => {
    const answer: Answer = await langfuse.post("/api/public/scores", { traceId: "a", name: "a", value: 1 });
    expect(answer.status).toBe(401);
  });
});

test("S12 batches of the SDKs: each event has its own result", async () => {
  const { traceId, child } = await newTrace();
  const event = (id: string, body: Row, type = "score-create") => ({
    id,
    type,
    timestamp: "2026-01-02T03:04:05Z",
    body,
  });
  const answer = await post("/api/public/ingestion", {
    batch: [
      event("1", { id: "s", traceId, observationId: child, name: "batched", value: 4, environment: "default" }),
      event("2", { traceId, name: "without value" }),
      event("3", { id: traceId, name: "old SDK" }, "trace-create"),
    ],
    metadata: { sdk_name: "langfuse-js" },
  });
  expect([answer.status, answer.json]).toEqual([
    207,
    {
      successes: [{ id: "1", status: 201 }],
      errors: [
        { id: "2", status: 400, message: expect.stringContaining("value") },
        { id: "3", status: 400, message: expect.stringContaining("/api/public/otel/v1/traces") },
      ],
    },
  ]);
  expect(await scoresOf(traceId, child)).toHaveProperty("batched");
});

test("S12 a malformed event of a batch is reported, and does not affect the others", async () => {
  const { traceId, child } = await newTrace();
  const event = (id: string, name: string) => {
    const body = { traceId, observationId: child, name, value: 1 };
    return { id, type: "score-create", timestamp: "2026-01-02T03:04:05Z", body };
  };
  const malformed: Array<[event: unknown, id: string]> = [
    [{ id: "2", type: 5, timestamp: "x", body: {} }, "2"],
    [{ id: "3", timestamp: "x", body: {} }, "3"],
    [{ id: "4", type: "score-create" }, "4"],
    [{ id: "5", type: "score-create", body: "text" }, "5"],
    [{ id: 6, type: "score-create", body: {} }, "unknown"],
    [{ type: "score-create", body: {} }, "unknown"],
    [{}, "unknown"],
    [null, "unknown"],
    [7, "unknown"],
    ["text", "unknown"],
    [[event("8", "in a list")], "unknown"],
  ];
  const batch = [event("1", "before"), ...malformed.map(([given]) => given), event("9", "after")];
  const answer = await post("/api/public/ingestion", { batch });
  expect([answer.status, answer.json]).toEqual([
    207,
    {
      successes: [
        { id: "1", status: 201 },
        { id: "9", status: 201 },
      ],
      errors: malformed.map(([, id]) => ({ id, status: 400, message: expect.any(String) })),
    },
  ]);
  await expect.poll(async () => Object.keys(await scoresOf(traceId, child)).toSorted()).toEqual(["after", "before"]);
  expect((await post("/api/public/ingestion", { batch: [] })).status).toBe(207);
  for (const body of [{}, { batch: "text" }, { batch: null }]) {
    expect((await post("/api/public/ingestion", body)).status).toBe(400);
  }
});

test("S12 lists of scores, as Python's SDK sends them", async () => {
  const { traceId, root, child } = await newTrace();
  const good = [
    { id: "1", traceId, name: "listed", value: 0.9, comment: "ok", timestamp: "2026-01-02T03:04:05.000Z" },
    { id: "2", traceId, observationId: child, name: "tone", value: "friendly", dataType: "CATEGORICAL" },
  ];
  const whole = await post("/api/public/scores", good);
  expect([whole.status, whole.json]).toEqual([202, { message: "Accepted" }]);
  expect(await scoresOf(traceId, root)).toMatchObject({ listed: { numerical_value: 0.9 } });
  expect(await scoresOf(traceId, child)).toMatchObject({ tone: { string_value: "friendly" } });

  const partly = await post("/api/public/scores", [...good, { traceId, name: "no value" }, 7]);
  expect([partly.status, partly.json]).toEqual([
    207,
    {
      accepted: 2,
      rejected: 2,
      errors: [{ message: expect.stringContaining("value") }, { message: expect.any(String) }],
    },
  ]);
  expect((await post("/api/public/scores", [])).status).toBe(400);
});
