import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bodyOf, createSpan, listSpans, retrieveSpan, settle, summarize } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const bulkPath = "/api/request-logs/bulk/";
const unmarked = { log_type: { operator: "not", value: ["marker"] } };

const newIds = (): { trace_unique_id: string; span_unique_id: string } => ({
  trace_unique_id: randomUUID(),
  span_unique_id: randomUUID(),
});
const complete = (ids = newIds()): Row => ({
  ...ids,
  log_type: "chat",
  model: "gpt-4o",
  start_time: "2026-03-01T10:00:00Z",
  timestamp: "2026-03-01T10:00:02Z",
  input: "How are you?",
  output: "Fine.",
  prompt_tokens: 10,
  completion_tokens: 5,
  cost: 0.25,
  customer_identifier: "ann",
});

/** Everything stored of an organisation, once all that was sent is visible. */
async function stored(client: TestClient): Promise<{ spans: Row[]; summary: Row }> {
  await settle(client);
  const { count, results } = await listSpans(client, unmarked, "page_size=1000");
  const summary = await summarize(client, unmarked);
  expect(summary["number_of_requests"]).toBe(count);
  expect(results).toHaveLength(count);
  return { spans: results, summary };
}

describe("the same span again", () => {
  test("byte for byte, one by one, concurrently, within a request, on both routes: one span, its cost once", async () => {
    const { prod } = await app.newOrganization();
    const span = complete();
    for (let i = 0; i < 3; i += 1) await createSpan(prod, span);
    await Promise.all(Array.from({ length: 20 }, () => createSpan(prod, span)));
    await prod.post(bulkPath, { logs: Array.from({ length: 100 }, () => span) });
    const { spans, summary } = await stored(prod);
    expect(spans).toHaveLength(1);
    expect(summary).toMatchObject({ total_cost: 0.25, total_tokens: 15 });
  });

  test("a start and its completion are one complete span, in either order, also concurrently", async () => {
    const { prod } = await app.newOrganization();
    const both = () => {
      const ids = newIds();
      const start: Row = { ...ids, log_type: "chat", start_time: "2026-03-01T10:00:00Z", input: "How are you?" };
      return [start, complete(ids)] as const;
    };
    for (const [first, second] of [both(), both().toReversed() as [Row, Row]]) {
      await createSpan(prod, first);
      await createSpan(prod, second);
    }
    await Promise.all(both().map((span) => createSpan(prod, span)));
    await Promise.all(
      both()
        .toReversed()
        .map((span) => createSpan(prod, span)),
    );
    await prod.post(bulkPath, { logs: [...both(), ...both().toReversed()] });
    const { spans, summary } = await stored(prod);
    expect(spans).toHaveLength(6);
    for (const span of spans)
      expect(span).toMatchObject({ output: "Fine.", cost: 0.25, timestamp: "2026-03-01T10:00:02.000Z" });
    expect(summary["total_cost"]).toBe(1.5);
  });

  test("of conflicting versions the last received one wins completely, never a mix", async () => {
    const { prod } = await app.newOrganization();
    const span = complete();
    const other: Row = {
      ...span,
      model: "claude-sonnet-4-5",
      output: "Well.",
      cost: 2,
      timestamp: "2026-03-02T00:00:00Z",
    };
    delete other["customer_identifier"];
    await createSpan(prod, span);
    await createSpan(prod, other);
    let { spans, summary } = await stored(prod);
    expect(spans).toMatchObject([{ model: "claude-sonnet-4-5", output: "Well.", customer_identifier: null }]);
    expect(summary["total_cost"]).toBe(2);
    await createSpan(prod, span);
    ({ spans, summary } = await stored(prod));
    expect(spans).toMatchObject([{ model: "gpt-4o", output: "Fine.", customer_identifier: "ann" }]);
    expect(summary["total_cost"]).toBe(0.25);
  });

  test("a span keeps its unique_id over resends, whatever changes, and it identifies the winning version", async () => {
    const { prod } = await app.newOrganization();
    const span = complete();
    const answers = [
      await createSpan(prod, {
        ...newIds(),
        trace_unique_id: span["trace_unique_id"],
        span_unique_id: span["span_unique_id"],
      }),
      await createSpan(prod, span),
      await createSpan(prod, { ...span, timestamp: "2027-01-01T00:00:00Z", output: "Late." }),
    ];
    expect(new Set(answers.map((answer) => answer["unique_id"])).size).toBe(1);
    await settle(prod);
    expect(await retrieveSpan(prod, answers[0]!["unique_id"])).toMatchObject({ output: "Late." });
  });

  test("the same span id in another trace, and ids that only look alike, are other spans", async () => {
    const { prod } = await app.newOrganization();
    const pairs = [
      ["t", "s"],
      ["t2", "s"],
      ["ts", ""],
      ["", "ts"],
      ["t", "s "],
      ["T", "s"],
      ["t\n", "s"],
      ["t", "\ns"],
      ["tt", "s"],
      ["t", "ts"],
    ];
    const logs = pairs.map(([trace_unique_id, span_unique_id]) => ({ ...complete(), trace_unique_id, span_unique_id }));
    await prod.post(bulkPath, { logs });
    expect((await stored(prod)).spans).toHaveLength(pairs.length);
  });

  test("a bulk that is resent after a timeout counts once", async () => {
    const { prod } = await app.newOrganization();
    const logs = Array.from({ length: 500 }, () => complete());
    await Promise.all([prod.post(bulkPath, { logs }), prod.post(bulkPath, { logs })]);
    expect((await prod.post(bulkPath, { logs: logs.toReversed() })).json).toMatchObject({ success_count: 500 });
    const { spans, summary } = await stored(prod);
    expect(spans).toHaveLength(500);
    expect(summary["total_cost"]).toBe(125);
  });

  test("spans without ids are new each time, unless an Idempotency-Key identifies the request", async () => {
    const { prod } = await app.newOrganization();
    const logs = Array.from({ length: 10 }, () => ({ log_type: "chat", input: "x", cost: 1 }));
    await prod.post(bulkPath, { logs });
    await prod.post(bulkPath, { logs });
    expect((await stored(prod)).spans).toHaveLength(20);
    for (let i = 0; i < 3; i += 1) await prod.post(bulkPath, { logs }, { "idempotency-key": "request-1" });
    expect((await stored(prod)).spans).toHaveLength(30);
    await prod.post(bulkPath, { logs }, { "idempotency-key": "request-2" });
    expect((await stored(prod)).summary["total_cost"]).toBe(40);
  });
});

describe("tenants are separate, whatever ids they send", () => {
  const shared = { ...complete({ trace_unique_id: "trace", span_unique_id: "span" }), thread_identifier: "thread" };

  test("four keys send the same span: each reads its own span, with its own cost", async () => {
    const [one, two] = [await app.newOrganization(), await app.newOrganization()];
    const owners = [one.prod, one.test, two.prod, two.test];
    const created = await Promise.all(
      owners.map((owner, index) => createSpan(owner, { ...shared, cost: index + 1, output: `of ${index}` })),
    );
    expect(new Set(created.map((span) => span["unique_id"])).size).toBe(4);
    for (const [index, owner] of owners.entries()) {
      await settle(owner);
      const environment = index % 2 === 0 ? "prod" : "test";
      const listed = await listSpans(owner, unmarked, `environment=${environment}`);
      expect(listed.results).toMatchObject([{ output: `of ${index}`, cost: index + 1, environment }]);
    }
    for (const [organization, cost] of [
      [one, 3],
      [two, 7],
    ] as const) {
      expect(await summarize(organization.prod, unmarked)).toMatchObject({ number_of_requests: 2, total_cost: cost });
    }
  });

  test("an id of another organisation is not found, like one that never existed", async () => {
    const [one, two] = [await app.newOrganization(), await app.newOrganization()];
    const created = await createSpan(one.prod, shared);
    await settle(one.prod);
    const [theirs, nobodys] = await Promise.all(
      [created["unique_id"], randomUUID()].map((id) => two.prod.get(`/api/request-logs/${String(id)}/`)),
    );
    expect(theirs?.status).toBe(404);
    expect(theirs?.json).toEqual(nobodys?.json);
    expect((await one.test.get(`/api/request-logs/${String(created["unique_id"])}/`)).status).toBe(200);
  });

  test("no filter, group or parameter reaches into another organisation", async () => {
    const [one, two] = [await app.newOrganization(), await app.newOrganization()];
    await createSpan(one.prod, { ...shared, metadata: { secret: "of one" } });
    await settle(one.prod);
    await settle(two.prod);
    const id = one.unique_organization_id;
    const filters = [
      { trace_unique_id: "trace" },
      { organization_id: id },
      { unique_organization_id: id },
      { metadata__secret: "of one" },
      { model: { operator: "not", value: ["x"] } },
      { connector: "OR", filter_params: [{ model: "gpt-4o" }, { model: { operator: "isnull", value: [true] } }] },
      { model: "' OR organization_id != '' OR '" },
      { model: { operator: "contains", value: ["') OR 1=1 --", "{organization_id:String}"] } },
    ];
    for (const filter of filters) {
      const answer = await two.prod.post("/api/request-logs/list/?start_time=2000-01-01", { filters: filter });
      expect([200, 400]).toContain(answer.status);
      expect(answer.text).not.toMatch(/"trace"|of one|"Fine\."/);
    }
    for (const query of [
      `organization_id=${id}`,
      `unique_organization_id=${id}`,
      "environment=all",
      "all_envs=true",
      "environment=prod&environment=test",
      "sort_by=organization_id",
    ]) {
      const answer = await two.prod.post(`/api/request-logs/list/?start_time=2000-01-01&${query}`, {});
      expect(answer.text).not.toMatch(/"trace"|of one/);
      expect(answer.status).toBeLessThan(500);
    }
    for (const groupBy of ["trace", "thread", "customer_identifier", "model", "organization_key_id"]) {
      const groups = await two.prod.post(`/api/request-logs/groups/?start_time=2000-01-01&group_by=${groupBy}`, {
        filters: unmarked,
      });
      expect(bodyOf(groups)["results"]).toEqual([]);
    }
  });

  test("no member of a body or header moves a span to another organisation or environment", async () => {
    const [one, two] = [await app.newOrganization(), await app.newOrganization()];
    const claims = {
      organization_id: two.unique_organization_id,
      unique_organization_id: two.unique_organization_id,
      organization: 2,
      environment: "prod",
      organization_key_id: "theirs",
      unique_id: randomUUID(),
      id: randomUUID(),
      version: "18446744073709551615",
      is_deleted: 1,
      received_at: "2000-01-01",
    };
    const headers = {
      "x-organization-id": two.unique_organization_id,
      "x-environment": "prod",
      environment: "prod",
      "x-forwarded-user": "admin",
    };
    const created = await createSpan(one.test, { ...shared, ...claims, svc_params: claims, metadata: claims }, headers);
    expect(created).toMatchObject({ organization_id: one.unique_organization_id, environment: "test" });
    expect(created["unique_id"]).not.toBe(claims.unique_id);
    await settle(one.test);
    await settle(two.prod);
    expect((await listSpans(one.test, unmarked)).count).toBe(1);
    expect((await listSpans(two.prod, unmarked)).count).toBe(0);
  });

  test("an Idempotency-Key is specific to an organisation and environment", async () => {
    const [one, two] = [await app.newOrganization(), await app.newOrganization()];
    const headers = { "idempotency-key": "same" };
    for (const owner of [one.prod, one.test, two.prod]) await createSpan(owner, { input: "x" }, headers);
    await settle(one.prod);
    await settle(two.prod);
    expect((await listSpans(one.prod, unmarked)).count).toBe(2);
    expect((await listSpans(two.prod, unmarked)).count).toBe(1);
  });

  test.each(["", " ", "Bearer", "Bearer ", "Bearer undefined", "Basic dGVzdDp0ZXN0", "Bearer a b", "Bearer \u00e9"])(
    "an Authorization of %j is refused like every other bad one",
    async (authorization) => {
      const own = createdWith(authorization);
      const answers = await Promise.all([
        own("/api/request-logs/", { input: "x" }),
        own("/api/request-logs/list/", {}),
        own(bulkPath, { logs: [{}] }),
      ]);
      expect(answers.map((answer) => answer.status)).toEqual([401, 401, 401]);
      expect(new Set(answers.map((answer) => answer.body)).size).toBe(1);
    },
  );
});

function createdWith(authorization: string) {
  return async (path: string, body: unknown): Promise<{ status: number; body: string }> => {
    const response = await fetch(new URL(path, app.url), {
      method: "POST",
      headers: { authorization },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.text() };
  };
}
