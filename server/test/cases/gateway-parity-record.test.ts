import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { retrieveCustomer } from "../support/customers.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { send, gatewayWays, type GatewayWay } from "../support/gateway-operations.ts";
import { answers, head, streamHead, streams, type Script } from "../support/scripted-upstream.ts";
import { retrieveSpan, settleCalls } from "../support/spans.ts";
import { testKeys } from "../support/test-app.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** P19, in detail: headers, breakdown and span of a call state the same, for every operation and every outcome. */

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
/** The Messages API has no place for a breakdown. */
const uncounted = gatewayWays.filter(([, { operation }]) => operation.wholeUncounted !== undefined);

const call = ({ operation, isStream }: GatewayWay, members: Row = {}): Promise<Answer> =>
  send(client, operation, { ...(isStream && { stream: true }), ...members });

const spanOf = (answer: Answer): Promise<Row> => retrieveSpan(client, answer.headers.get("x-spanway-log-id"));

const good = ({ operation, isStream }: GatewayWay): Script =>
  isStream ? streams(operation.begin, operation.end) : answers(200, operation.whole);

/** Makes a call and disconnects while the upstream pauses after `sent`. All tests share the organization. */
async function leave(way: GatewayWay, sent: string, customer: string): Promise<Row> {
  const started = Promise.withResolvers<void>();
  gateway.upstream.script(async (connection) => {
    await connection.write(sent);
    started.resolve();
    await connection.closed(5_000);
    return undefined;
  });
  await leaveOnce(way, started.promise, customer, { retries: 0 });
  return await settled(customer);
}

async function leaveOnce(way: GatewayWay, started: Promise<void>, customer: string, members: Row): Promise<void> {
  const { operation, isStream } = way;
  const all = { model: operation.model, customer_identifier: customer, ...members };
  const { bytes, type, headers } = operation.body({ ...all, ...(isStream && { stream: true }) });
  const left = new AbortController();
  const request = fetch(new URL(operation.path, gateway.app.url), {
    method: "POST",
    headers: { authorization: `Bearer ${testKeys.prod}`, "content-type": type, ...headers },
    body: new Uint8Array(bytes),
    signal: left.signal,
  })
    .then((response) => response.text())
    .catch(() => "");
  await started;
  await sleep(50);
  left.abort();
  await request;
}

/** The span of a customer's only call, with the customer's charge. */
async function settled(customer: string): Promise<Row> {
  const { results } = await gateway.app.prod.waitForSpans(1, { customer_identifier: customer });
  const span = await retrieveSpan(gateway.app.prod, results[0]?.["unique_id"]);
  await settleCalls(gateway.app.prod);
  const { total_usage: charged } = await retrieveCustomer(gateway.app.prod, customer);
  return { ...span, charged };
}

/** The breakdown in a response: as a member, or in the last event that has one. */
function breakdownOf(answer: Answer): Row {
  const texts = answer.text.startsWith("{") ? [answer.text] : answer.text.split("\n\n");
  for (const text of texts.toReversed()) {
    if (!text.includes('"request_breakdown"')) continue;
    return (JSON.parse(text.replace(/^data: /, "")) as { request_breakdown: Row }).request_breakdown;
  }
  throw new Error(`no breakdown in ${answer.text}`);
}

/**
 * The money figures of the span, and the customer's charge. Recordings are priced by duration, which this one does not
 * state.
 */
function moneyOf({ operation }: GatewayWay, span: Row): Row {
  const { usage_is_estimated, cost, charged } = span;
  if (operation.name === "transcription") return { usage_is_estimated, cost, charged };
  return { usage_is_estimated, isPaid: Number(cost) > 0, isCharged: Math.abs(Number(charged) - Number(cost)) < 1e-9 };
}

const startedMoneyOf = ({ operation }: GatewayWay): Row =>
  operation.name === "transcription"
    ? { usage_is_estimated: null, cost: null, charged: 0 }
    : { usage_is_estimated: true, isPaid: true, isCharged: true };

describe.each(gatewayWays)("P19: %s", (name, way) => {
  const { operation, isStream } = way;

  test("the upstream's time is not overhead, and the first token is timed", async () => {
    gateway.upstream.script(async (connection, request) => {
      await sleep(400);
      return good(way)(connection, request);
    });
    const startedMs = performance.now();
    const answer = await call(way);
    const tookMs = performance.now() - startedMs;
    expect(Number(answer.headers.get("x-spanway-overhead-ms"))).toBeLessThan(tookMs - 350);
    const span = await spanOf(answer);
    expect(span["routing_time"]).toBeGreaterThanOrEqual(0);
    expect(Number(span["time_to_first_token"] ?? 0) > 0.35).toBe(isStream);
  });

  test("a failing upstream, then a working one: both attempts are recorded, one is charged", async () => {
    const fallback = operation.otherModel.split("/").at(-1) ?? "";
    gateway.upstream.script((connection, request) =>
      request.body.includes(fallback)
        ? good(way)(connection, request)
        : answers(500, { error: { message: "broken" } })(connection, request),
    );
    const answer = await call(way, { fallback_models: [operation.otherModel], customer_identifier: "acme" });
    expect([answer.status, answer.headers.get("x-spanway-attempts")]).toEqual([200, "2"]);
    expect(answer.headers.get("x-spanway-model")).toBe(fallback);
    const span = await spanOf(answer);
    await settleCalls(client);
    expect(span).toMatchObject({
      status_code: 200,
      prompt_tokens: 1_000,
      attempts: [{ status_code: 500 }, { status_code: 200, model: fallback }],
    });
    expect((span["attempts"] as Row[])[0]).not.toHaveProperty("cost");
    expect((await retrieveCustomer(client, "acme"))["total_usage"]).toBeCloseTo(span["cost"] as number, 9);
  });

  test("a caller who disconnects pays for the started response", async () => {
    const span = await leave(way, isStream ? streamHead + operation.begin : `${head(200)} `, `${name} leaves`);
    expect(span).toMatchObject({ status_code: 499, failed: true, attempts: null });
    expect(moneyOf(way, span)).toEqual(startedMoneyOf(way));
    expect(span["prompt_tokens"]).toEqual((isStream ? operation.counted : undefined) ?? span["prompt_tokens"]);
  });

  test("a caller who disconnects while a retry waits pays nothing", async () => {
    const failed = Promise.withResolvers<void>();
    gateway.upstream.script((connection, request) => {
      setTimeout(() => failed.resolve(), 100);
      return answers(500, { error: { message: "broken" } })(connection, request);
    });
    const customer = `${name} leaves in between`;
    await leaveOnce(way, failed.promise, customer, {
      retry_params: { retry_enabled: true, num_retries: 3, retry_after: 5 },
    });
    expect(await settled(customer)).toMatchObject({ status_code: 499, cost: 0, charged: 0, total_tokens: null });
  });

  test("a request that the gateway rejects is recorded with its parameters", async () => {
    const answer = await call(way, operation.refused);
    expect([answer.status, answer.headers.get("x-spanway-attempts")]).toEqual([400, "0"]);
    const span = await spanOf(answer);
    const { [operation.recordedAs]: recorded } = span;
    expect(span).toMatchObject({ status_code: 400, failed: true, cost: 0, stream: isStream });
    expect(JSON.stringify(recorded)).toMatch(/hello|Hello|a\.mp3/);
  });
});

describe.each(streamed)("P19: %s", (name, way) => {
  const { operation } = way;

  test("a caller who disconnects before the first content pays for the started response", async () => {
    const span = await leave(way, streamHead + operation.opening, `${name} leaves early`);
    expect(span).toMatchObject({ status_code: 499, failed: true, time_to_first_token: null });
    expect(moneyOf(way, span)).toEqual(startedMoneyOf(way));
    expect(span["prompt_tokens"]).toEqual(operation.counted ?? span["prompt_tokens"]);
  });

  test("an attempt that is truncated after its first content states its cost", async () => {
    gateway.upstream.script(async (connection) => {
      await connection.write(streamHead + operation.begin);
      await sleep(30);
      connection.reset();
      return undefined;
    });
    const span = await spanOf(await call(way));
    const [attempt] = span["attempts"] as Row[];
    expect([span["failed"], attempt?.["status_code"]]).toEqual([true, null]);
    expect(attempt?.["cost"] ?? null).toEqual(span["cost"]);
  });

  test("a whole response to a stream request", async () => {
    gateway.upstream.script(answers(200, operation.whole));
    const answer = await call(way);
    const span = await spanOf(answer);
    expect([answer.status, span["status_code"], span["stream"]]).toEqual([200, 200, true]);
    expect([span["prompt_tokens"], span["usage_is_estimated"]]).toEqual([1_000, null]);
    // A model that does not stream transcriptions responds as usual.
    const isGivenAsStream = operation.name !== "transcription";
    expect(answer.headers.get("content-type")?.startsWith("text/event-stream")).toBe(isGivenAsStream);
    expect(Number(span["time_to_first_token"] ?? 0) > 0).toBe(isGivenAsStream);
  });
});

describe.each(uncounted)("P19: %s", (_name, way) => {
  const { operation, isStream } = way;

  test("a response without usage: breakdown and span state the same estimate", async () => {
    const { begin, endUncounted, wholeUncounted } = operation;
    gateway.upstream.script(isStream ? streams(begin, endUncounted) : answers(200, wholeUncounted));
    const answer = await call(way, { request_breakdown: true });
    const [breakdown, span] = [breakdownOf(answer), await spanOf(answer)];
    expect(breakdown["prompt_tokens"]).toBe(span["prompt_tokens"]);
    expect(breakdown["completion_tokens"]).toBe(span["completion_tokens"]);
    expect(breakdown["cost"] === null).toBe(span["cost"] === null);
    expect(Number(breakdown["cost"])).toBeCloseTo(Number(span["cost"]), 9);
  });
});
