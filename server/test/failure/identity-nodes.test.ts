import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomHex, traceOf } from "../support/otlp.ts";
import { postgresSkipReason, postgresUrl } from "../support/postgres.ts";
import { listSpans, settle, summarize } from "../support/spans.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";
import { retrieveTrace } from "../support/traces.ts";
import { startTwoNodes, type TwoNodes } from "../support/two-nodes.ts";

/** A span that is resent to another node is the same span. ADR 0047. */

const bulk = "/api/request-logs/bulk/";
const ids = () => ({ trace_unique_id: randomUUID(), span_unique_id: randomUUID() });
const start = (members: Row): Row => ({ ...members, log_type: "chat", input: "How are you?" });
const complete = (members: Row): Row => ({
  ...start(members),
  model: "gpt-4o",
  output: "Fine.",
  prompt_tokens: 10,
  completion_tokens: 5,
  cost: 0.25,
});

describe.skipIf(postgresUrl === undefined)(`N2: two nodes over one store${postgresSkipReason}`, () => {
  let running: TwoNodes;
  let nodes: TwoNodes["nodes"];
  beforeAll(async () => {
    running = await startTwoNodes();
    ({ nodes } = running);
  }, 60_000);
  afterAll(() => running.stop());

  /** The spans of a test, once both nodes have stored the accepted spans and merged versions of the same span. */
  const stored = async (group: string): Promise<{ spans: Row[]; summary: Row }> => {
    for (const { prod } of nodes) await settle(prod);
    const filter = { customer_identifier: group };
    const { count, results } = await listSpans(nodes[0].prod, filter, "page_size=1000");
    const summary = await summarize(nodes[1].prod, filter);
    expect([results.length, summary["number_of_requests"]]).toEqual([count, count]);
    return { spans: results, summary };
  };
  const expectAccepted = ({ status }: Answer) => expect([200, 201]).toContain(status);

  /** Sends to each node in turn; before the second request, the first node has stored it. */
  const inTurn = async (send: (client: TestClient) => Promise<Answer>) => {
    for (const { prod } of nodes) {
      expectAccepted(await send(prod));
      await settle(prod);
    }
  };
  const atOnce = async (send: (client: TestClient) => Promise<Answer>) => {
    const answers = await Promise.all(nodes.map(({ prod }) => send(prod)));
    for (const answer of answers) expectAccepted(answer);
  };

  describe.each([
    { way: "one after the other", both: inTurn },
    { way: "at once", both: atOnce },
  ])("the same $way", ({ both }) => {
    test("20 spans without any time are 20 spans, whose cost counts once", async () => {
      const group = randomUUID();
      const logs = Array.from({ length: 20 }, () => ({ ...complete(ids()), customer_identifier: group }));
      await both((client) => client.post(bulk, { logs }));
      const { spans, summary } = await stored(group);
      expect(new Set(spans.map((span) => span["unique_id"])).size).toBe(20);
      expect([spans.length, summary["total_cost"], summary["total_tokens"]]).toEqual([20, 5, 300]);
    });

    test("requests with an Idempotency-Key are one: single, bulk and legacy ingest", async () => {
      const group = randomUUID();
      const body = { log_type: "chat", input: "x", cost: 1, customer_identifier: group };
      const headers = { "idempotency-key": randomUUID() };
      await both((client) => client.post("/api/request-logs/", body, headers));
      const others = { "idempotency-key": randomUUID() };
      await both((client) => client.post(bulk, { logs: Array.from({ length: 5 }, () => body) }, others));
      const legacy = { "idempotency-key": randomUUID() };
      await both((client) => client.post("/api/v1/traces/ingest", [body, body], legacy));
      const { spans, summary } = await stored(group);
      expect([spans.length, summary["total_cost"]]).toEqual([8, 8]);
    });

    test("legacy ingest and OTLP create one span each", async () => {
      const group = randomUUID();
      const legacy = [{ ...complete(ids()), customer_identifier: group }];
      await both((client) => client.post("/api/v1/traces/ingest", legacy));
      const place = { traceId: randomHex(32), spanId: randomHex(16) };
      const untimed = { startTimeUnixNano: "0", endTimeUnixNano: "0" };
      const attributes = { "gen_ai.operation.name": "chat", "user.id": group };
      await both((client) => client.post("/api/v2/traces", traceOf(attributes, { ...place, ...untimed })));
      expect((await stored(group)).spans.length).toBe(2);
    });
  });

  test("a start on one node and its end on another are one complete span, in either order", async () => {
    const group = randomUUID();
    const started = { start_time: new Date(Date.now() - 5_000).toISOString(), customer_identifier: group };
    const ended = { ...started, timestamp: new Date().toISOString() };
    const [first, second] = nodes.map(({ prod }) => prod) as [TestClient, TestClient];
    const [one, other] = [ids(), ids()];
    await Promise.all([
      first.post("/api/request-logs/", start({ ...started, ...one })),
      second.post("/api/request-logs/", complete({ ...ended, ...other })),
    ]);
    for (const client of [first, second]) await settle(client);
    await Promise.all([
      second.post("/api/request-logs/", complete({ ...ended, ...one })),
      first.post("/api/request-logs/", start({ ...started, ...other })),
    ]);
    const { spans, summary } = await stored(group);
    const whole = ["Fine.", 0.25];
    expect(spans.map(({ output, cost }) => [output, cost])).toEqual([whole, whole]);
    expect(summary["total_cost"]).toBe(0.5);
    expect(await retrieveTrace(second, one.trace_unique_id)).toMatchObject({ span_count: 1, total_cost: 0.25 });
  });

  test("a span that alternates between nodes has the last version sent", async () => {
    const group = randomUUID();
    const span = { ...ids(), customer_identifier: group };
    const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000).toISOString();
    const times = [30, 20, 10, 30, 20].map(at);
    for (const [index, timestamp] of times.entries()) {
      const { prod } = nodes[index % 2 === 0 ? 0 : 1];
      await prod.post("/api/request-logs/", { ...complete(span), timestamp });
      await settle(prod);
    }
    const { spans } = await stored(group);
    expect(spans.map(({ timestamp }) => timestamp)).toEqual([times.at(-1)]);
  });

  test("spans that several nodes accept while the store is down are one span afterwards", async () => {
    const group = randomUUID();
    const logs = Array.from({ length: 20 }, () => ({ ...complete(ids()), customer_identifier: group }));
    await running.clickhouse.setFaults({ refuse: "503" });
    const answers = await Promise.all(nodes.map(({ prod }) => prod.post(bulk, { logs })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    await running.clickhouse.setFaults({});
    const { spans, summary } = await stored(group);
    expect([spans.length, summary["total_cost"]]).toEqual([20, 5]);
  });
});
