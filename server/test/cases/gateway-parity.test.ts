import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { retrieveCustomer } from "../support/customers.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { send, gatewayWays, type GatewayWay } from "../support/gateway-operations.ts";
import { answers, head, streamHead, streams, type Script } from "../support/scripted-upstream.ts";
import { retrieveSpan, settleCalls } from "../support/spans.ts";
import { testKeys } from "../support/test-app.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** P19: for every operation and every form of response, the same outcome has the same effects everywhere. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

let client: TestClient;
beforeEach(async () => {
  client = (await gateway.app.newOrganization()).prod;
});

const streamed = gatewayWays.filter(([, { isStream }]) => isStream);
const counted = gatewayWays.filter(([, { operation }]) => operation.wholeUncounted !== undefined);

const call = ({ operation, isStream }: GatewayWay, members: Row = {}): Promise<Answer> =>
  send(client, operation, { ...(isStream && { stream: true }), ...members });

const spanOf = (answer: Answer): Promise<Row> => retrieveSpan(client, answer.headers.get("x-spanway-log-id"));

/** Responds correctly. */
const good = ({ operation, isStream }: GatewayWay): Script =>
  isStream ? streams(operation.begin, operation.end) : answers(200, operation.whole);

/** Resets the connection in the middle of a response. */
const broken =
  ({ operation, isStream }: GatewayWay): Script =>
  async (connection) => {
    const text = JSON.stringify(operation.whole);
    await connection.write(
      isStream
        ? streamHead + operation.begin
        : head(200, { "content-length": String(text.length) }) + text.slice(0, 20),
    );
    await sleep(30);
    connection.reset();
    return undefined;
  };

/** The cost of the span and the customer's charge, which are equal. */
async function money(answer: Answer, customer: string): Promise<{ span: Row; cost: unknown; charged: unknown }> {
  const span = await spanOf(answer);
  await settleCalls(client);
  return { span, cost: span["cost"], charged: (await retrieveCustomer(client, customer))["total_usage"] };
}

const budgeted = { customer_identifier: "acme", customer_params: { customer_identifier: "acme", total_budget: 5 } };
const membersOf = ({ operation }: GatewayWay): Row =>
  operation.name === "transcription" ? { customer_identifier: "acme" } : budgeted;

describe.each(gatewayWays)("P19: %s", (name, way) => {
  const completionTokens = way.operation.name === "embeddings" ? 0 : 100;

  test("a success", async () => {
    gateway.upstream.script(good(way));
    const answer = await call(way, membersOf(way));
    const { span, cost, charged } = await money(answer, "acme");
    expect([answer.status, answer.headers.get("x-spanway-attempts")]).toEqual([200, "1"]);
    expect(span).toMatchObject({
      status_code: 200,
      failed: false,
      prompt_tokens: 1_000,
      completion_tokens: completionTokens,
      usage_is_estimated: null,
      attempts: null,
      stream: way.isStream,
      log_method: "gateway",
    });
    expect(cost).toBeGreaterThan(0);
    expect(charged).toBeCloseTo(cost as number, 9);
  });

  test("a refusal of the request: 400, nothing charged, and the key remains usable", async () => {
    gateway.upstream.script(answers(400, { error: { message: "not like that" } }));
    const answer = await call(way, membersOf(way));
    expect(answer).toMatchObject({ status: 400, json: { error: { message: "not like that" } } });
    const { span, charged } = await money(answer, "acme");
    expect(span).toMatchObject({ status_code: 400, failed: true, cost: 0, total_tokens: null });
    expect(charged).toBe(0);
    for (let n = 0; n < 3; n += 1) await call(way);
    gateway.upstream.script(good(way));
    const next = await call(way, { fallback_models: [way.operation.otherModel] });
    expect(next.headers.get("x-spanway-attempts")).toBe("1");
  });

  const { failed } = way.operation;

  test(`an error of the upstream: ${failed.status}, nothing charged`, async () => {
    gateway.upstream.script(answers(500, { error: { message: "broken" } }));
    const answer = await call(way, membersOf(way));
    expect(answer).toMatchObject({
      status: failed.status,
      json: { error: { message: "broken", type: failed.type } },
    });
    const { span, charged } = await money(answer, "acme");
    expect(span).toMatchObject({
      status_code: failed.status,
      failed: true,
      cost: 0,
      attempts: [{ status_code: 500 }],
    });
    expect(charged).toBe(0);
  });

  test.each<[what: string, script: (way: GatewayWay) => Script]>([
    ["errors of the upstream", () => answers(500, { error: { message: "broken" } })],
    ["answers that break off", broken],
  ])("three %s in a row: the next call goes to another model first", async (_what, script) => {
    gateway.upstream.script(script(way));
    for (let n = 0; n < 3; n += 1) await call(way);
    gateway.upstream.script(good(way));
    const answer = await call(way, { fallback_models: [way.operation.otherModel] });
    const model = way.operation.otherModel.split("/").at(-1) ?? "";
    expect([answer.status, answer.headers.get("x-spanway-model")]).toEqual([200, model]);
  });

  test("a caller who disconnects: 499, and the upstream call is aborted", async () => {
    const { operation, isStream } = way;
    const started = Promise.withResolvers<void>();
    const disconnected = Promise.withResolvers<boolean>();
    gateway.upstream.script(async (connection) => {
      await connection.write(isStream ? streamHead + operation.begin : `${head(200)} `);
      started.resolve();
      disconnected.resolve(await connection.closed(5_000));
      return undefined;
    });
    const customer_identifier = `leaves ${name}`;
    const { bytes, type, headers } = operation.body({
      model: operation.model,
      retries: 0,
      customer_identifier,
      ...(isStream && { stream: true }),
    });
    const left = new AbortController();
    const request = fetch(new URL(operation.path, gateway.app.url), {
      method: "POST",
      headers: { authorization: `Bearer ${testKeys.prod}`, "content-type": type, ...headers },
      body: new Uint8Array(bytes),
      signal: left.signal,
    })
      .then((response) => response.text())
      .catch(() => "");
    await started.promise;
    await sleep(50);
    left.abort();
    await request;
    expect(await disconnected.promise).toBe(true);
    const { results } = await gateway.app.prod.waitForSpans(1, { customer_identifier });
    expect(results).toMatchObject([{ status_code: 499, failed: true }]);
  });
});

describe.each(streamed)("P19: %s", (_name, way) => {
  test("a truncated response is an error event, charged for the content sent", async () => {
    gateway.upstream.script(broken(way));
    const answer = await call(way, membersOf(way));
    const { broken: brokenCode } = way.operation;
    const errorEvent = new RegExp(`data: \\{.*"error":.*"${brokenCode.type}"`);
    expect([answer.status, answer.text]).toEqual([200, expect.stringMatching(errorEvent)]);
    const { span, cost, charged } = await money(answer, "acme");
    expect(span).toMatchObject({
      status_code: brokenCode.status,
      failed: true,
      completion_message: { content: "Hello." },
      attempts: [{ status_code: null }],
    });
    expect(charged).toBeCloseTo(cost as number, 9);
  });
});

describe.each(counted)("P19: %s", (_name, way) => {
  test("a response without usage is estimated", async () => {
    const { operation, isStream } = way;
    gateway.upstream.script(
      isStream ? streams(operation.begin, operation.endUncounted) : answers(200, operation.wholeUncounted),
    );
    const answer = await call(way, membersOf(way));
    const { span, cost, charged } = await money(answer, "acme");
    expect(span["status_code"]).toBe(200);
    // Recordings are priced by duration, which this one does not state.
    const isEstimated = operation.name === "transcription" ? null : true;
    expect(span["usage_is_estimated"]).toBe(isEstimated);
    expect(charged).toBeCloseTo((cost as number | null) ?? 0, 9);
  });
});
