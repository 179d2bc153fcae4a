import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pathOf } from "../support/customers.ts";
import { postgresSkipReason, postgresUrl } from "../support/postgres.ts";
import { createSpan, listSpans, settle } from "../support/spans.ts";
import type { Row, TestClient } from "../support/test-client.ts";
import { getTrace } from "../support/traces.ts";
import { startTwoNodes, type TwoNodes } from "../support/two-nodes.ts";

/** Data deleted on one node stays deleted, whichever node receives it again. ADR 0010 and 0036. */

/** Nodes learn of each other's deletions within two seconds. */
const learnedMs = 3_000;

describe.skipIf(postgresUrl === undefined)(`N3: two nodes over one store${postgresSkipReason}`, () => {
  let running: TwoNodes;
  let one: TestClient;
  let other: TestClient;
  beforeAll(async () => {
    running = await startTwoNodes();
    [one, other] = running.nodes.map(({ prod }) => prod) as [TestClient, TestClient];
  }, 60_000);
  afterAll(() => running.stop());

  const settleAll = async () => {
    for (const client of [one, other]) await settle(client);
  };
  const deleteTrace = async (trace: string) =>
    expect((await one.request("DELETE", `/api/traces/${trace}/`)).status).toBe(200);
  const newSpans = (): Row[] => {
    const trace_unique_id = randomUUID();
    return ["a", "b", "c"].map((span_unique_id) => ({ trace_unique_id, span_unique_id, input: "secret" }));
  };
  const traceOf = (spans: readonly Row[]) => String(spans[0]?.["trace_unique_id"]);
  const send = async (client: TestClient, logs: readonly Row[]) =>
    expect((await client.post("/api/request-logs/bulk/", { logs })).status).toBe(201);
  const countOf = async (trace: string) => (await listSpans(one, { trace_unique_id: [trace] })).count;

  test("spans of a deleted trace that are sent to another node are never seen, whatever time they have", async () => {
    const spans = newSpans();
    const trace = traceOf(spans);
    await send(one, spans);
    await settleAll();
    expect(await countOf(trace)).toBe(3);
    await deleteTrace(trace);
    await sleep(learnedMs);
    const later = new Date(Date.now() + 1_000).toISOString();
    const resends = [spans, spans.map((span) => ({ ...span, timestamp: later, output: "more" }))];
    const seen = new Set<number>();
    for (const logs of resends) {
      const sent = send(other, logs).then(settleAll);
      const done = sent.then(() => true);
      while (!(await Promise.race([done, sleep(20)]))) seen.add(await countOf(trace));
    }
    seen.add(await countOf(trace));
    expect([...seen]).toEqual([0]);
    expect((await getTrace(other, trace)).status).toBe(404);
    // New spans of the trace are not deleted.
    await createSpan(other, { trace_unique_id: trace, span_unique_id: "d" });
    await settleAll();
    expect(await countOf(trace)).toBe(1);
  });

  test("spans that another node received before it knew of the deletion disappear a moment later", async () => {
    const spans = newSpans();
    const trace = traceOf(spans);
    await send(one, spans);
    await settleAll();
    await Promise.all([deleteTrace(trace), sleep(30).then(() => send(other, spans))]);
    await send(other, spans);
    await settleAll();
    expect(await countOf(trace)).toBe(0);
  });

  test("spans without a time do not name a deleted customer again", async () => {
    const customer = `customer-${randomUUID()}`;
    const named = (span: Row): Row => ({ ...span, customer_identifier: customer });
    const spans = newSpans().map(named);
    const keyed = named({ input: "x", thread_identifier: randomUUID() });
    const headers = { "idempotency-key": randomUUID() };
    await send(one, spans);
    await createSpan(one, keyed, headers);
    await settleAll();
    expect((await other.get(pathOf(customer))).status).toBe(200);
    expect((await one.request("DELETE", pathOf(customer))).status).toBe(200);
    await sleep(learnedMs);
    await send(other, spans);
    await createSpan(other, keyed, headers);
    await settleAll();
    await sleep(500);
    expect((await one.get(pathOf(customer))).status).toBe(404);
    expect((await listSpans(one, { customer_identifier: customer })).count).toBe(0);
    expect(await countOf(traceOf(spans))).toBe(3);
    // From now on, this name is a new customer.
    await createSpan(other, named({ trace_unique_id: randomUUID(), span_unique_id: "new" }));
    await settleAll();
    await sleep(500);
    expect((await one.get(pathOf(customer))).status).toBe(200);
    expect((await listSpans(one, { customer_identifier: customer })).count).toBe(1);
  });

  test("while the store is down, spans of deleted traces are accepted, and absent when it is up again", async () => {
    const spans = newSpans();
    const trace = traceOf(spans);
    await send(one, spans);
    await settleAll();
    await deleteTrace(trace);
    await sleep(learnedMs);
    await running.clickhouse.setFaults({ refuse: "503" });
    await send(other, spans);
    await running.clickhouse.setFaults({});
    await settleAll();
    expect(await countOf(trace)).toBe(0);
  });
});
