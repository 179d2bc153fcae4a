import { legacyFamilies } from "../../src/domain/product-families.ts";
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { webhookEventTypes } from "../../src/domain/webhook.ts";
import { countedColumns } from "../../src/domain/span.ts";
import { omit } from "../../src/lib/omit.ts";
import { newEvaluator } from "../support/evaluation.ts";
import { startReceiver, verify, type Receiver } from "../support/receiver.ts";
import { bodyOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

/** Interface §2 Webhook, §3 its rows, §4.8, §5.2 and §6; decisions §8. */

let app: TestApp;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  app = await startTestApp({ SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1", SPANWAY_TRACE_QUIET_SECONDS: "1" });
});
afterAll(async () => {
  await app.stop();
  await receiver.close();
});

/** There is no guarantee how soon a delivery arrives: a busy machine is slow. */
const waiting = { timeout: 5_000 };

let paths = 0;
const newPath = (): string => `/hook/${(paths += 1)}`;

async function newWebhook(client: TestClient, fields: Row = {}): Promise<Row & { id: number; secrets: string }> {
  const answer = await client.post("/api/webhooks/", {
    url: receiver.url + newPath(),
    name: "Hook",
    event_type: "request_log",
    ...fields,
  });
  if (answer.status !== 201) throw new Error(`answered ${answer.status}: ${answer.text}`);
  return bodyOf(answer) as Row & { id: number; secrets: string };
}

const pathOf = ({ url }: Row): string => new URL(String(url)).pathname;

describe("creating and changing webhooks", () => {
  test("create returns 201 with the fields of the interface and a secret, and lists show it without", async () => {
    const { prod } = await app.newOrganization();
    const made = await newWebhook(prod, { name: "Mine" });
    expect(made).toEqual({
      id: expect.any(Number),
      url: made["url"],
      organization: expect.any(Number),
      project: null,
      name: "Mine",
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      event_type: "request_log",
      active: true,
      organization_key: null,
      legacy_signatures: false,
      environment: "prod",
      failing_since: null,
      disabled_at: null,
      disabled_reason: null,
      skipped_events: 0,
      secrets: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{32}$/),
    });
    const { secrets: _secrets, ...shown } = made;
    expect((await prod.get("/api/webhooks/")).json).toEqual([shown]);
    expect((await prod.get(`/api/webhooks/${made.id}/`)).json).toEqual(shown);
  });

  test("the secret is revealed when is_including_secrets is true, and only then", async () => {
    const made = await newWebhook(app.prod);
    const path = `/api/webhooks/${made.id}/`;
    expect((await app.prod.get(`${path}?is_including_secrets=true`)).json).toMatchObject({ secrets: made.secrets });
    for (const query of ["", "?is_including_secrets=false"]) {
      expect((await app.prod.get(path + query)).json).not.toHaveProperty("secrets");
    }
    expect((await app.prod.get(`${path}?is_including_secrets=maybe`)).status).toBe(400);
  });

  test.each<[Row, string]>([
    [{ url: undefined }, "url"],
    [{ url: "not a url" }, "url"],
    [{ url: "ftp://example.com/" }, "url"],
    [{ url: "http://user:password@example.com/" }, "url"],
    [{ url: `https://example.com/${"x".repeat(181)}` }, "url"],
    [{ url: "https://example.com/\r\nhost: evil.example" }, "url"],
    [{ url: "https://exa\tmple.com/" }, "url"],
    [{ url: "https://example.com/a b" }, "url"],
    [{ url: " https://example.com/" }, "url"],
    [{ url: "https://example.com/\u0000" }, "url"],
    [{ url: "https://example.com/\u007f" }, "url"],
    [{ name: "" }, "name"],
    [{ name: "x".repeat(71) }, "name"],
    [{ event_type: "something_else" }, "event_type"],
    [{ event_type: undefined }, "event_type"],
    [{ active: "yes" }, "active"],
    [{ organization_key: "nobody" }, "organization_key"],
  ])("a body with %j is 400 and names the field", async (fields, field) => {
    const body = { url: "https://example.com/", name: "Hook", event_type: "request_log", ...fields };
    const answer = await app.prod.post("/api/webhooks/", body);
    expect([answer.status, Object.keys((answer.json as { errors: Row }).errors)]).toEqual([400, [field]]);
  });

  test("a url of 200 and a name of 70 characters are the longest accepted ones", async () => {
    const url = `https://example.com/${"x".repeat(180)}`;
    const name = "n".repeat(70);
    expect(await newWebhook(app.prod, { url, name, active: false })).toMatchObject({ url, name, active: false });
  });

  test("every event type of the product can be subscribed to", async () => {
    const { prod } = await app.newOrganization();
    for (const event_type of webhookEventTypes) await newWebhook(prod, { event_type });
    const listed = (await prod.get("/api/webhooks/")).json as Row[];
    expect(listed.map((webhook) => webhook["event_type"])).toEqual(webhookEventTypes);
  });

  test("PATCH changes the given members: url, name, active and event_type", async () => {
    const made = await newWebhook(app.prod);
    const { secrets: _secrets, ...before } = made;
    const changes: Row[] = [
      { url: "https://example.com/a" },
      { name: "Other" },
      { active: false },
      { event_type: "trace_completed" },
      { active: true },
    ];
    const expected = { ...before };
    for (const change of changes) {
      Object.assign(expected, change);
      const answer = await app.prod.request("PATCH", `/api/webhooks/${made.id}/`, change);
      expect([answer.status, answer.json]).toEqual([200, expected]);
    }
    expect((await app.prod.get(`/api/webhooks/${made.id}/`)).json).toEqual(expected);
    expect((await app.prod.request("PATCH", `/api/webhooks/${made.id}/`, { url: "x" })).status).toBe(400);
  });

  test("PUT replaces, and the secret stays", async () => {
    const made = await newWebhook(app.prod, { active: false });
    const path = `/api/webhooks/${made.id}/`;
    const body = { url: "https://example.com/b", name: "New", event_type: "trace_completed" };
    expect(await app.prod.request("PUT", path, body)).toMatchObject({ status: 200, json: { ...body, active: true } });
    expect((await app.prod.request("PUT", path, { name: "New" })).status).toBe(400);
    expect((await app.prod.get(`${path}?is_including_secrets=true`)).json).toMatchObject({ secrets: made.secrets });
  });

  test("DELETE deletes, and a deleted or unknown webhook is 404", async () => {
    const made = await newWebhook(app.prod);
    const path = `/api/webhooks/${made.id}/`;
    expect((await app.prod.request("DELETE", path)).status).toBe(204);
    for (const missing of [path, "/api/webhooks/999999999/", "/api/webhooks/99999999999999/", "/api/webhooks/x/"]) {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        expect([
          method,
          missing,
          (await app.prod.request(method, missing, method === "PATCH" ? {} : undefined)).status,
        ]).toEqual([method, missing, 404]);
      }
    }
    expect((await app.prod.post(`${path}rotate/`)).status).toBe(404);
    expect((await app.prod.get(`${path}deliveries/`)).status).toBe(404);
  });

  test("another organization's webhooks are 404 for every operation, and not listed", async () => {
    const [mine, theirs] = [await app.newOrganization(), await app.newOrganization()];
    const { id } = await newWebhook(theirs.prod);
    await theirs.prod.post("/api/request-logs/", {});
    await expect.poll(async () => deliveriesOf(theirs.prod, id), waiting).toHaveLength(1);
    const [delivery] = await deliveriesOf(theirs.prod, id);
    const expected = [
      mine.prod.get(`/api/webhooks/${id}/?is_including_secrets=true`),
      mine.prod.request("PATCH", `/api/webhooks/${id}/`, { active: false }),
      mine.prod.request("DELETE", `/api/webhooks/${id}/`),
      mine.prod.post(`/api/webhooks/${id}/rotate/`),
      mine.prod.get(`/api/webhooks/${id}/deliveries/`),
      mine.prod.post(`/api/webhooks/${id}/deliveries/${String(delivery?.["id"])}/redeliver/`),
    ];
    expect((await Promise.all(expected)).map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
    const own = await newWebhook(mine.prod);
    const foreign = await mine.prod.post(`/api/webhooks/${own.id}/deliveries/${String(delivery?.["id"])}/redeliver/`);
    expect(foreign.status).toBe(404);
    expect((await mine.prod.get("/api/webhooks/")).json).toHaveLength(1);
  });
});

describe("who may call", () => {
  test("an API key or a JWT is required", async () => {
    const person = await app.login();
    const made = await newWebhook(person);
    expect(made["environment"]).toBeNull();
    expect((await app.prod.get(`/api/webhooks/${made.id}/`)).status).toBe(200);
    expect((await person.get("/api/webhooks/")).status).toBe(200);
    for (const path of ["/api/webhooks/", `/api/webhooks/${made.id}/`]) {
      const answer = await fetch(app.url + path);
      expect(answer.status).toBe(401);
      await answer.text();
    }
  });
});

async function deliveriesOf(client: TestClient, id: number): Promise<Row[]> {
  return ((await client.get(`/api/webhooks/${id}/deliveries/`)).json as { results: Row[] }).results;
}

async function firstOn(path: string) {
  await expect.poll(() => receiver.on(path).length, waiting).toBeGreaterThan(0);
  return receiver.on(path)[0]!;
}

describe("request_log", () => {
  const log = {
    model: "gpt-4o-mini",
    prompt_messages: [{ role: "user", content: 'Grüße an “dich” 😀\u2028 \\ " \u007f' }],
    completion_message: { role: "assistant", content: "Hi", tool_calls: [{ id: "t", type: "function" }] },
    metadata: { long: 12345678901234, nested: { a: [1, 2.5, 1e-7, true, null] }, "key with space": "x", _hidden: 1 },
    usage: { prompt_tokens: 10, completion_tokens: 5 },
    latency: 0.25,
    temperature: 1,
    stream: false,
    trace_unique_id: "t1",
    customer_params: { customer_identifier: "c", period_budget: 3 },
    note: "n",
  };

  test("posts the span as it is retrieved, signed for the reference library and for older receivers", async () => {
    const { prod } = await app.newOrganization();
    const made = await newWebhook(prod);
    const created = await prod.post("/api/request-logs/", log);
    const request = await firstOn(pathOf(made));
    expect(verify(made.secrets, request)).toEqual(request.json);
    expect(request.headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": expect.stringMatching(/^msg_/),
      "x-svc-event": "request_log",
    });
    const hex = createHmac("sha256", made.secrets).update(request.body).digest("hex");
    for (const family of ["spanway", "svc"]) expect(request.headers[`x-${family}-signature`]).toBe(hex);
    for (const family of legacyFamilies) expect(request.headers).not.toHaveProperty(`x-${family}-signature`);
    const span = await prod.get(`/api/request-logs/${String((created.json as Row)["unique_id"])}/`);
    expect(request.json).toEqual(omit(span.json as Row, ...Object.keys(countedColumns)));
    expect(request.json["metadata"]).not.toHaveProperty("_hidden");
  });

  test.each(["another secret", "another body"])("%s does not verify", async (what) => {
    const { prod } = await app.newOrganization();
    const made = await newWebhook(prod);
    await prod.post("/api/request-logs/", { input: "x" });
    const request = await firstOn(pathOf(made));
    const other = what === "another secret" ? (await newWebhook(prod, { active: false })).secrets : made.secrets;
    const body = what === "another body" ? `${request.body} ` : request.body;
    expect(() => verify(other, { ...request, body })).toThrow("No matching signature found");
  });

  test("has no content if the log has disable_log", async () => {
    const { prod } = await app.newOrganization();
    const made = await newWebhook(prod);
    await prod.post("/api/request-logs/", { ...log, disable_log: true });
    const request = await firstOn(pathOf(made));
    expect(request.body).not.toContain("assistant");
    expect(request.body).not.toContain("dich");
    expect(request.json).toMatchObject({ model: "gpt-4o-mini", prompt_tokens: 10, input: null, output: null });
  });

  test("an identical resend is not a new event; a fuller version is", async () => {
    const { prod } = await app.newOrganization();
    const made = await newWebhook(prod);
    const started = { trace_unique_id: "t", span_unique_id: "s", input: "x", start_time: "2026-01-01T00:00:00Z" };
    await prod.post("/api/request-logs/", started);
    await firstOn(pathOf(made));
    await prod.post("/api/request-logs/", started);
    await prod.post("/api/request-logs/", { ...started, output: "y" });
    await expect.poll(() => receiver.on(pathOf(made)).map(({ json }) => json["output"]), waiting).toEqual([null, "y"]);
    expect(await deliveriesOf(prod, made.id)).toHaveLength(2);
  });

  test("goes to the webhooks of its own organization, environment and key, and to no others", async () => {
    const [mine, theirs] = [await app.newOrganization(), await app.newOrganization()];
    const hooks = {
      prod: await newWebhook(mine.prod),
      test: await newWebhook(mine.test),
      theirs: await newWebhook(theirs.prod),
      off: await newWebhook(mine.prod, { active: false }),
      other: await newWebhook(mine.prod, { event_type: "trace_completed" }),
    };
    await mine.prod.post("/api/request-logs/", { input: "from prod" });
    await mine.test.post("/api/request-logs/", { input: "from test" });
    const fromProd = await firstOn(pathOf(hooks.prod));
    const bound = await newWebhook(mine.prod, { organization_key: fromProd.json["organization_key_id"] });
    await mine.prod.post("/api/request-logs/", { input: "from prod again" });
    await firstOn(pathOf(bound));
    const inputs = (hook: Row) => receiver.on(pathOf(hook)).map(({ json }) => json["input"]);
    await expect.poll(() => inputs(hooks.prod), waiting).toEqual(["from prod", "from prod again"]);
    expect(inputs(hooks.test)).toEqual(["from test"]);
    expect(inputs(bound)).toEqual(["from prod again"]);
    for (const hook of [hooks.theirs, hooks.off, hooks.other]) expect(inputs(hook)).toEqual([]);
  });

  test("a webhook bound to another key of the organization gets no events of this one", async () => {
    const person = await app.login();
    const keys = (await person.get("/api/api-keys/")).json as { results: Row[] };
    const key = keys.results.find(({ environment }) => environment === "test")?.["id"];
    const bound = await newWebhook(person, { organization_key: key });
    await app.prod.post("/api/request-logs/", { input: "prod" });
    await app.test.post("/api/request-logs/", { input: "test" });
    await firstOn(pathOf(bound));
    expect(receiver.on(pathOf(bound)).map(({ json }) => json["input"])).toEqual(["test"]);
  });
});

describe("trace_completed", () => {
  test("posts the trace once it has had no new span for the quiet time, and again after a late span", async () => {
    const { prod } = await app.newOrganization();
    const made = await newWebhook(prod, { event_type: "trace_completed" });
    const span = { trace_unique_id: "trace", span_name: "root", input: "x", timestamp: new Date().toISOString() };
    await prod.post("/api/request-logs/", { ...span, span_unique_id: "a" });
    await prod.post("/api/request-logs/", { ...span, span_unique_id: "b", span_parent_id: "a" });
    const request = await firstOn(pathOf(made));
    expect(verify(made.secrets, request)).toMatchObject({ trace_unique_id: "trace", span_count: 2, name: "root" });
    const listed = (await prod.post("/api/traces/list/", {})).json as { results: Row[] };
    expect(request.json).toEqual(listed.results[0]);
    await prod.post("/api/request-logs/", { ...span, span_unique_id: "c", span_parent_id: "a" });
    await expect.poll(() => receiver.on(pathOf(made)).length, waiting).toBe(2);
    expect(receiver.on(pathOf(made)).map(({ json }) => json["span_count"])).toEqual([2, 3]);
  });
});

test("on_eval_result_ingested posts the score as the API shows it", async () => {
  const { prod } = await app.newOrganization();
  const made = await newWebhook(prod, { event_type: "on_eval_result_ingested" });
  const evaluator = await newEvaluator(prod, { type: "human", score_value_type: "numerical", code_config: undefined });
  const log = bodyOf(await prod.post("/api/request-logs/", { input: "x" }));
  await prod.waitForSpans(1);
  const score = await prod.post(`/api/logs/${String(log["unique_id"])}/scores/`, {
    evaluator_id: evaluator["id"],
    numerical_value: 4,
  });
  expect(score.status).toBe(201);
  const request = await firstOn(pathOf(made));
  expect(verify(made.secrets, request)).toEqual(score.json);
});

describe("deliveries", () => {
  test("are listed with their results, and resent on demand with the same id", async () => {
    const { prod } = await app.newOrganization();
    const made = await newWebhook(prod);
    receiver.answer(pathOf(made), (_request, response) => response.end("y".repeat(5_000)));
    await prod.post("/api/request-logs/", { input: "x" });
    const request = await firstOn(pathOf(made));
    await expect.poll(async () => (await deliveriesOf(prod, made.id))[0]?.["status"], waiting).toBe("delivered");
    const [delivery] = await deliveriesOf(prod, made.id);
    expect(delivery).toEqual({
      id: expect.stringMatching(/^msg_/),
      event_id: request.headers["webhook-id"],
      event_type: "request_log",
      environment: "prod",
      status: "delivered",
      attempts: 1,
      created_at: expect.any(String),
      last_attempt_at: expect.any(String),
      next_attempt_at: null,
      expires_at: expect.any(String),
      response_status: 200,
      response_body: "y".repeat(1_024),
      error: null,
    });
    const again = await prod.post(`/api/webhooks/${made.id}/deliveries/${String(delivery?.["id"])}/redeliver/`);
    expect([again.status, (again.json as Row)["status"]]).toEqual([202, "pending"]);
    await expect.poll(() => receiver.on(pathOf(made)).length, waiting).toBe(2);
    const [first, second] = receiver.on(pathOf(made));
    expect([second?.headers["webhook-id"], second?.body]).toEqual([first?.headers["webhook-id"], first?.body]);
  });

  test("are paged, newest first", async () => {
    const { prod } = await app.newOrganization();
    const made = await newWebhook(prod);
    for (const input of ["1", "2", "3"]) await prod.post("/api/request-logs/", { input });
    await expect.poll(() => receiver.on(pathOf(made)).length, waiting).toBe(3);
    const page = (await prod.get(`/api/webhooks/${made.id}/deliveries/?page_size=2`)).json as Row;
    expect(page).toMatchObject({ count: 3, previous: null, next: expect.stringContaining("page=2") });
    const sent = receiver.on(pathOf(made)).toSorted((a, b) => Number(b.json["input"]) - Number(a.json["input"]));
    expect((page["results"] as Row[]).map(({ id }) => id)).toEqual(
      sent.slice(0, 2).map(({ headers }) => headers["webhook-id"]),
    );
    expect((await prod.get(`/api/webhooks/${made.id}/deliveries/?page=0`)).status).toBe(400);
  });

  test("an inactive webhook gets nothing, and redelivery reports that", async () => {
    const { prod } = await app.newOrganization();
    const made = await newWebhook(prod);
    await prod.post("/api/request-logs/", { input: "x" });
    await firstOn(pathOf(made));
    await prod.request("PATCH", `/api/webhooks/${made.id}/`, { active: false });
    await prod.post("/api/request-logs/", { input: "y" });
    await prod.waitForSpans(2);
    const [delivery] = await deliveriesOf(prod, made.id);
    const again = await prod.post(`/api/webhooks/${made.id}/deliveries/${String(delivery?.["id"])}/redeliver/`);
    expect(again.status).toBe(409);
    expect(receiver.on(pathOf(made))).toHaveLength(1);
  });
});

describe("rotation", () => {
  test("creates a new secret, and for a day both sign", async () => {
    const { prod } = await app.newOrganization();
    const made = await newWebhook(prod);
    const rotated = await prod.post(`/api/webhooks/${made.id}/rotate/`);
    const { secrets: secret } = rotated.json as { secrets: string };
    expect(rotated.json).toEqual({ id: made.id, name: "Hook", secrets: secret, message: expect.any(String) });
    expect(secret).toMatch(/^whsec_/);
    expect(secret).not.toBe(made.secrets);
    await prod.post("/api/request-logs/", { input: "x" });
    const request = await firstOn(pathOf(made));
    expect(verify(made.secrets, request)).toEqual(request.json);
    expect(verify(secret, request)).toEqual(request.json);
    expect(request.headers["webhook-signature"]?.split(" ")).toHaveLength(2);
    const shown = await prod.get(`/api/webhooks/${made.id}/?is_including_secrets=true`);
    expect((shown.json as Row)["secrets"]).toBe(secret);
  });
});

test("the API reference has the payload of every event type", async () => {
  const document = (await app.prod.get("/openapi.json")).json as { webhooks: Record<string, unknown> };
  expect(Object.keys(document.webhooks)).toEqual(webhookEventTypes);
});
