import { afterAll, beforeAll, expect, test } from "vitest";
import { newEvaluator } from "../support/evaluation.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { bodyOf, settle } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";

/** Decisions §4: deletion includes copies in webhook payloads. */

let app: TestApp;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  app = await startTestApp({ SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
});
afterAll(async () => {
  await app.stop();
  await receiver.close();
});

const waiting = { timeout: 10_000 };

async function newWebhook(client: TestClient, path: string, event_type = "request_log"): Promise<{ id: number }> {
  const body = { url: receiver.url + path, name: "Hook", event_type };
  return { id: Number(bodyOf(await client.post("/api/webhooks/", body))["id"]) };
}

async function deliveriesOf(client: TestClient, id: number): Promise<Row[]> {
  return ((await client.get(`/api/webhooks/${id}/deliveries/`)).json as { results: Row[] }).results;
}

test("N3: sent payloads of a deleted trace are deleted too, and queued ones are never sent", async () => {
  const { prod } = await app.newOrganization();
  const [made, failing] = [await newWebhook(prod, "/takes"), await newWebhook(prod, "/fails")];
  receiver.answer("/fails", (_request, response) => response.writeHead(500).end());
  const span = { trace_unique_id: "deleted", span_unique_id: "a", input: "secret" };
  await prod.post("/api/request-logs/", span);
  await prod.post("/api/request-logs/", { ...span, trace_unique_id: "kept" });
  for (const { id } of [made, failing])
    await expect
      .poll(async () => (await deliveriesOf(prod, id)).filter((each) => each["attempts"] === 1).length, waiting)
      .toBe(2);
  await settle(prod);
  expect((await prod.request("DELETE", "/api/traces/deleted/")).status).toBe(200);
  const redeliver = async (hook: { id: number }) => {
    const answers = [];
    for (const { id } of (await deliveriesOf(prod, hook.id)).toReversed().slice(0, 2))
      answers.push((await prod.post(`/api/webhooks/${hook.id}/deliveries/${String(id)}/redeliver/`)).status);
    return answers;
  };
  const [deleted, waits] = (await deliveriesOf(prod, failing.id)).toReversed();
  expect(deleted).toMatchObject({ status: "failed", error: "the trace was deleted", response_body: null });
  expect(waits).toMatchObject({ status: "pending" });
  expect([await redeliver(made), await redeliver(failing)]).toEqual([
    [409, 202],
    [409, 202],
  ]);
});

test("N3: a score of a deleted trace is not sent, and its sent payloads are deleted", async () => {
  const { prod } = await app.newOrganization();
  const event = "on_eval_result_ingested";
  const [made, failing] = [await newWebhook(prod, "/scores", event), await newWebhook(prod, "/no-scores", event)];
  receiver.answer("/no-scores", (_request, response) => response.writeHead(500).end());
  const evaluator = await newEvaluator(prod, { type: "human", score_value_type: "numerical", code_config: undefined });
  const newLog = async (trace: Row) =>
    String(bodyOf(await prod.post("/api/request-logs/", { ...trace, input: "secret" }))["unique_id"]);
  const traces = ["scored", "kept"].map((trace_unique_id) => ({ trace_unique_id, span_unique_id: "a" }));
  const logs = [await newLog(traces[0] ?? {}), await newLog(traces[1] ?? {}), await newLog({})];
  await settle(prod);
  for (const log of logs) {
    const score = { evaluator_id: evaluator["id"], numerical_value: 4, explanation: "quotes the secret" };
    expect((await prod.post(`/api/logs/${log}/scores/`, score)).status).toBe(201);
  }
  for (const { id } of [made, failing])
    await expect
      .poll(async () => (await deliveriesOf(prod, id)).filter((each) => each["attempts"] === 1).length, waiting)
      .toBe(3);
  expect((await prod.request("DELETE", "/api/traces/scored/")).status).toBe(200);
  const statuses = async (hook: { id: number }) =>
    (await deliveriesOf(prod, hook.id)).map((each) => [each["status"], each["error"]]);
  const deleted = (await statuses(failing)).filter(([, error]) => error === "the trace was deleted");
  expect(deleted).toEqual([["failed", "the trace was deleted"]]);
  const again = [];
  for (const { id } of await deliveriesOf(prod, made.id))
    again.push((await prod.post(`/api/webhooks/${made.id}/deliveries/${String(id)}/redeliver/`)).status);
  expect(again.toSorted((a, b) => a - b)).toEqual([202, 202, 409]);
});
