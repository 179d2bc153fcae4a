import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { completion } from "../support/chat.ts";
import { pathOf, retrieveCustomer } from "../support/customers.ts";
import { logsOf } from "../support/otlp-logs.ts";
import { randomHex, traceOf } from "../support/otlp.ts";
import { bodyOf, listSpans, retrieveSpan, settle } from "../support/spans.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { answers, startScriptedUpstream, type ScriptedUpstream } from "../support/scripted-upstream.ts";
import { newDataDir, startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { testAdmin } from "../support/test-app.ts";
import { createClient, type Answer, type ListAnswer, type Row } from "../support/test-client.ts";

/** M11: the deletion of a customer is permanent, on every route, for any resend and after restarts. ADR 0036. */

const folder = newDataDir();
let upstream: ScriptedUpstream;
let receiver: Receiver;
let server: ServerProcess;
const start = () =>
  startServerProcess(folder.path, {
    SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1",
    OPENAI_API_KEY: "sk-upstream-0123456789",
    OPENAI_BASE_URL: `${upstream.url}/v1`,
  });
beforeAll(async () => {
  [upstream, receiver] = await Promise.all([startScriptedUpstream(), startReceiver()]);
  server = await start();
});
afterAll(async () => {
  await server.kill("SIGTERM");
  await Promise.all([upstream.stop(), receiver.close(), folder.remove()]);
});

const restart = async (signal: NodeJS.Signals) => {
  await server.kill(signal);
  server = await start();
};
const erase = async (customer: string) =>
  expect([customer, (await server.prod.request("DELETE", pathOf(customer))).status]).toEqual([customer, 200]);

const yesterday = new Date(Date.now() - 86_400_000).toISOString();
const ids = () => ({ trace_unique_id: randomHex(32), span_unique_id: randomHex(16) });

/** A route on which a span that names a customer arrives, prepared so that it can be resent; `more` are the members of a fuller version. */
type Route = (customer: string) => (more?: Row) => Promise<Answer>;
const post =
  (path: string, bodyOf: (customer: string) => Row, wrap: (body: Row) => unknown = (body) => body): Route =>
  (customer) => {
    const body = bodyOf(customer);
    return (more = {}) => server.prod.post(path, wrap({ ...body, ...more }));
  };
const named = (customer: string): Row => ({
  customer_params: { customer_identifier: customer, email: `${customer}@example.com`, name: `Name of ${customer}` },
});
const otlpSpan = (customer: string, key: string, { traceId, spanId, ...more }: Row) =>
  traceOf({ "gen_ai.operation.name": "chat", [key]: customer, ...more }, { traceId, spanId });

const routes: Record<string, Route> = {
  "a span with ids and no time": post("/api/request-logs/", (customer) => ({
    ...ids(),
    customer_identifier: customer,
  })),
  "a span with ids, by customer_params": post("/api/request-logs/", (customer) => ({ ...ids(), ...named(customer) })),
  "a span without ids that says when it ended": post("/api/request-logs/", (customer) => ({
    customer_identifier: customer,
    timestamp: yesterday,
  })),
  "a request with an Idempotency-Key": (customer) => {
    const headers = { "Idempotency-Key": randomUUID() };
    // Another body would be another request.
    return () => server.prod.post("/api/request-logs/", { customer_identifier: customer }, headers);
  },
  "many spans in one request": post(
    "/api/request-logs/bulk/",
    (customer) => ({ ...ids(), customer_identifier: customer }),
    (body) => ({ logs: [body, { ...body, span_unique_id: "another" }] }),
  ),
  "the path of older clients": post(
    "/api/v1/traces/ingest",
    (customer) => ({ ...ids(), customer_identifier: customer, start_time: yesterday, timestamp: yesterday }),
    (body) => [body],
  ),
  "an export of OpenTelemetry": (customer) => {
    const place = { traceId: randomHex(32), spanId: randomHex(16) };
    return (more = {}) => server.prod.post("/api/v2/traces", otlpSpan(customer, "user.id", { ...place, ...more }));
  },
};

/** All stored spans, as retrieved: any remaining data of a customer is visible there. */
async function wholeSpans(): Promise<string[]> {
  const { results } = await listSpans(server.prod, {}, "page_size=1000");
  const spans = results.filter((row) => row["log_type"] !== "marker");
  expect(spans.length).toBeGreaterThan(0);
  return Promise.all(
    spans.map(async (row) => (await server.prod.get(`/api/request-logs/${String(row["unique_id"])}/`)).text),
  );
}

const status = async (customer: string) => (await server.prod.get(pathOf(customer))).status;

test("M11: no data received before the deletion restores a deleted customer, by any route, before and after a restart", async () => {
  const sends = Object.entries(routes).map(([route, prepare], index) => {
    const customer = `erased-${index}`;
    return { route, customer, send: prepare(customer) };
  });
  const sendAll = async (more?: Row) => {
    for (const { route, send } of sends)
      expect([route, (await send(more)).status]).toEqual([route, expect.any(Number)]);
    await settle(server.prod);
  };
  const found = () => Promise.all(sends.map(async ({ route, customer }) => [route, await status(customer)]));
  const all = (code: number) => sends.map(({ route }) => [route, code]);

  await sendAll();
  expect(await found()).toEqual(all(200));
  for (const { customer } of sends) await erase(customer);
  const expectDeleted = async () => {
    expect(await found()).toEqual(all(404));
    for (const span of await wholeSpans()) expect(span).not.toMatch(/erased-\d/);
  };
  await expectDeleted();
  await sendAll();
  await expectDeleted();
  await sendAll({ output: "what it said", prompt_tokens: 3, completion_tokens: 2 });
  await expectDeleted();
  await restart("SIGKILL");
  await sendAll({ output: "what it said at last", prompt_tokens: 3, completion_tokens: 2 });
  await expectDeleted();

  // New spans belong to a new customer of that name.
  for (const { customer } of sends) {
    await server.prod.post("/api/request-logs/", { ...ids(), customer_identifier: customer, cost: 0.5 });
  }
  await settle(server.prod);
  expect(await found()).toEqual(all(200));
  for (const { customer } of sends) {
    expect(await retrieveCustomer(server.prod, customer)).toMatchObject({
      number_of_requests: 1,
      total_cost: 0.5,
      email: null,
      name: null,
    });
  }
}, 120_000);

test("M11: log records that are joined later leave a span without its customer", async () => {
  const place = { traceId: randomHex(32), spanId: randomHex(16) };
  await server.prod.post("/api/v2/traces", otlpSpan("joined", "user.id", place));
  await settle(server.prod);
  await erase("joined");
  const logs = logsOf({
    ...place,
    timeUnixNano: "1700000001000000000",
    attributes: [{ key: "event.name", value: { stringValue: "gen_ai.user.message" } }],
    body: { kvlistValue: { values: [{ key: "content", value: { stringValue: "said late" } }] } },
  });
  expect((await server.prod.post("/api/v1/logs", logs)).status).toBe(200);
  const names = async () => {
    const { results } = await listSpans(server.prod, { span_unique_id: { operator: "", value: [place.spanId] } });
    return bodyOf(await server.prod.get(`/api/request-logs/${String(results[0]?.["unique_id"])}/`));
  };
  await expect.poll(async () => JSON.stringify(await names()), { timeout: 20_000 }).toContain("said late");
  expect((await names())["customer_identifier"]).toBeNull();
  expect(await status("joined")).toBe(404);
}, 60_000);

test("M11: calls do not inherit a deleted customer, and earlier ones not a new customer of the same name", async () => {
  const trace_unique_id = randomHex(32);
  const call = { trace_unique_id, log_type: "chat", cost: 0.25 };
  const root = { trace_unique_id, span_unique_id: "root", log_type: "workflow", customer_identifier: "heir" };
  await server.prod.post("/api/request-logs/bulk/", {
    logs: [root, { ...call, span_unique_id: "old", span_parent_id: "root" }],
  });
  await settle(server.prod);
  expect(await retrieveCustomer(server.prod, "heir")).toMatchObject({ total_cost: 0.25 });
  await erase("heir");
  await server.prod.post("/api/request-logs/", root);
  await settle(server.prod);
  expect(await status("heir")).toBe(404);
  // A new part of the trace names the customer: the root of a second turn.
  await server.prod.post("/api/request-logs/bulk/", {
    logs: [
      { ...root, span_unique_id: "again" },
      { ...call, span_unique_id: "new", span_parent_id: "again", cost: 1 },
    ],
  });
  await settle(server.prod);
  expect(await retrieveCustomer(server.prod, "heir")).toMatchObject({ total_cost: 1, number_of_requests: 2 });
}, 60_000);

test("M11: a call in progress is recorded without its customer, a later call creates a new customer", async () => {
  const call = (customer_identifier: string) =>
    server.prod.post("/v1/chat/completions", {
      model: "openai/gpt-4o-mini",
      messages: [{ role: "user", content: "Hi" }],
      customer_identifier,
      customer_params: { customer_identifier, name: "Called", total_budget: 100 },
    });
  const notified = Promise.withResolvers<void>();
  upstream.script(async (connection, request) => {
    await notified.promise;
    return answers(200, completion())(connection, request);
  });
  const pending = call("called");
  await expect.poll(() => upstream.requests.length, { timeout: 5_000 }).toBe(1);
  expect(await retrieveCustomer(server.prod, "called")).toMatchObject({ name: "Called", total_budget: 100 });
  await erase("called");
  notified.resolve();
  const answer = await pending;
  expect(answer.status).toBe(200);
  const span = await retrieveSpan(server.prod, answer.headers.get("x-spanway-log-id"));
  expect([span["customer_identifier"], span["customer_params"] ?? null]).toEqual([null, null]);
  await settle(server.prod);
  expect(await status("called")).toBe(404);
  expect((await call("called")).status).toBe(200);
  await expect.poll(() => status("called"), { timeout: 5_000 }).toBe(200);
}, 60_000);

describe("M11: a deleted customer is in no copy", () => {
  test("not in payloads that webhooks store and send again", async () => {
    const url = `${receiver.url}/hook`;
    const hook = bodyOf(await server.prod.post("/api/webhooks/", { url, name: "Hook", event_type: "request_log" }));
    const trace = { ...ids(), thread_identifier: "kept" };
    await server.prod.post("/api/request-logs/", { ...trace, ...named("hooked") });
    const about = () => receiver.on("/hook").filter(({ json }) => json["span_unique_id"] === trace.span_unique_id);
    await expect.poll(() => about().length, { timeout: 10_000 }).toBe(1);
    expect(about()[0]?.body).toContain("hooked@example.com");
    await erase("hooked");
    const log = (await server.prod.get(`/api/webhooks/${String(hook["id"])}/deliveries/`)).json as ListAnswer;
    for (const { id } of log.results) {
      await server.prod.post(`/api/webhooks/${String(hook["id"])}/deliveries/${String(id)}/redeliver/`);
    }
    await expect.poll(() => about().length, { timeout: 10_000 }).toBe(2);
    expect(about()[1]?.json).toMatchObject({ thread_identifier: "kept", customer_identifier: null });
    expect(about()[1]?.body).not.toContain("hooked");
  });

  test("not in the audit log", async () => {
    await server.prod.post("/api/users/", { customer_identifier: "audited", email: "audited@example.com" });
    await server.prod.request("PATCH", pathOf("audited"), { email: "audited@example.org" });
    await erase("audited");
    const { access } = bodyOf(await createClient(server.url).post("/api/auth/login/", testAdmin));
    const log = (await createClient(server.url, String(access)).get("/api/audit-log/?page_size=100")).text;
    expect(log).toContain("delete_customer");
    expect(log).not.toContain("audited");
  });
});

type Step =
  | { kind: "send"; span: number; customer: "a" | "b" }
  | { kind: "delete"; customer: "a" | "b" }
  | { kind: "restart" };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("send" as const),
      span: fc.nat(3),
      customer: fc.constantFrom("a" as const, "b" as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("delete" as const),
      customer: fc.constantFrom("a" as const, "b" as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
);

test("M11: in any order of spans, resends and deletions, a span names a customer only if it was not deleted since the span first arrived", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), fc.boolean(), async (steps, isTimed) => {
      const run = randomHex(8);
      const nameOf = (customer: string) => `${customer}-${run}`;
      const first = new Map<number, number>();
      const owner = new Map<number, string>();
      const deleted = new Map<string, number>();
      const namedSince = new Set<string>();
      const refused: Step[] = [];
      for (const [at, each] of steps.entries()) {
        if (each.kind === "restart") await restart(at % 2 === 0 ? "SIGKILL" : "SIGTERM");
        else if (each.kind === "delete") {
          const isThere = [...owner.values()].includes(each.customer);
          const answer = await server.prod.request("DELETE", pathOf(nameOf(each.customer)));
          // A profile may outlive its spans, which were resent with another name.
          if (isThere && answer.status !== 200) refused.push(each);
          if (answer.status !== 200) continue;
          deleted.set(each.customer, at);
          namedSince.delete(each.customer);
          for (const [span, customer] of owner) if (customer === each.customer) owner.set(span, "");
        } else {
          const { span, customer } = each;
          const body = { trace_unique_id: run, span_unique_id: `s${span}`, customer_identifier: nameOf(customer) };
          await server.prod.post("/api/request-logs/", isTimed ? { ...body, timestamp: yesterday } : body);
          if (!first.has(span)) first.set(span, at);
          const isErased = (first.get(span) ?? 0) < (deleted.get(customer) ?? -1);
          owner.set(span, isErased ? "" : customer);
          if (!isErased) namedSince.add(customer);
        }
      }
      await settle(server.prod);
      const { results } = await listSpans(server.prod, { trace_unique_id: { operator: "", value: [run] } });
      expect(Object.fromEntries(results.map((row) => [row["span_unique_id"], row["customer_identifier"]]))).toEqual(
        Object.fromEntries(
          [...owner].map(([span, customer]) => [`s${span}`, customer === "" ? null : nameOf(customer)]),
        ),
      );
      const erased = [...deleted.keys()].filter((customer) => !namedSince.has(customer));
      const found = await Promise.all(erased.map((customer) => status(nameOf(customer))));
      expect(found).toEqual(erased.map(() => 404));
      expect(refused).toEqual([]);
    }),
    { numRuns: 6, endOnFailure: true },
  );
}, 180_000);
