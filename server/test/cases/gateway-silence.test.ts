import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { send, gatewayOperations, type GatewayOperation } from "../support/gateway-operations.ts";
import {
  answers,
  head,
  startScriptedUpstream,
  streamHead,
  streams,
  type Script,
} from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

/** Upstreams that keep a connection open without a response, and what the caller receives meanwhile. */

const [firstMs, idleMs, totalMs, commentMs] = [5_000, 500, 3_000, 300];

let app: TestApp;
const undo: Array<() => Promise<unknown>> = [];
beforeAll(async () => {
  app = await startTestApp({
    SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1",
    SPANWAY_UPSTREAM_FIRST_BYTE_MS: String(firstMs),
    SPANWAY_UPSTREAM_IDLE_MS: String(idleMs),
    SPANWAY_UPSTREAM_TOTAL_MS: String(totalMs),
    SPANWAY_STREAM_COMMENT_MS: String(commentMs),
  });
  undo.push(() => app.stop());
});
afterAll(async () => {
  for (const each of undo) await each();
});

/**
 * An organization whose OpenAI and Anthropic run only this script. Most of these tests wait, so they run concurrently.
 */
async function callerOf(script: Script): Promise<TestClient> {
  const upstream = await startScriptedUpstream();
  upstream.script(script);
  undo.push(() => upstream.stop());
  const { prod } = await app.newOrganization();
  const addresses = { openai: `${upstream.url}/v1`, anthropic: upstream.url };
  for (const [provider, base_url] of Object.entries(addresses)) {
    const made = await prod.post("/api/providers/", { provider, base_url, api_key: "sk-upstream-0123456789" });
    expect(made.status).toBe(201);
  }
  return prod;
}

const spanOf = (client: TestClient, answer: Answer): Promise<Row> =>
  retrieveSpan(client, answer.headers.get("x-spanway-log-id"));

/** One script for the first request, another for those that follow. */
function firstThen(first: Script, then: Script): Script {
  let requests = 0;
  return (...args) => {
    requests += 1;
    return (requests === 1 ? first : then)(...args);
  };
}

/** Writes the same repeatedly, as long as anybody reads. */
const forever =
  (headText: string, bytes: string): Script =>
  async (connection) => {
    await connection.write(headText);
    while (!connection.socket.destroyed && !connection.socket.readableEnded) {
      await connection.write(bytes);
      await sleep(100);
    }
    return undefined;
  };

const streaming = gatewayOperations.filter(({ canStream }) => canStream);
const namesOf = (operations: readonly GatewayOperation[]): Array<[string, GatewayOperation]> =>
  operations.map((operation) => [operation.name, operation]);
/** Comments are in the same block as the following event. */
const withoutComments = (text: string): string => text.replace(/^:\n/gm, "");

describe.each(namesOf(streaming))("a stream of %s", { concurrent: true }, (_name, operation) => {
  const stream = (client: TestClient, members: Row = {}): Promise<Answer> =>
    send(client, operation, { stream: true, ...members });
  const good = streams(operation.begin, operation.end);

  test.each(operation.keepAlives.map((each) => [each]))(
    "P9: that contains only %j is aborted while there is time for another model",
    async (keepAlive) => {
      const client = await callerOf(firstThen(forever(streamHead, keepAlive), good));
      const began = performance.now();
      const answer = await stream(client, { fallback_models: [operation.otherModel], retries: 2 });
      expect(performance.now() - began).toBeLessThan(firstMs);
      expect(withoutComments(answer.text)).toContain("Hello.");
      expect(await spanOf(client, answer)).toMatchObject({ status_code: 200, attempts: [{ status_code: null }, {}] });
    },
  );

  test("P9: that is kept alive after its first content continues", async () => {
    const client = await callerOf(async (connection) => {
      await connection.write(streamHead + operation.begin);
      for (let n = 0; n < 6; n += 1) {
        await sleep(idleMs / 3);
        await connection.write(operation.keepAlives[0] ?? "");
      }
      await connection.write(operation.end);
      return "close";
    });
    const answer = await stream(client);
    expect(await spanOf(client, answer)).toMatchObject({ status_code: 200, prompt_tokens: 1_000 });
  });

  test("P9: that is silent gets a comment, on its own line, before its first content and after it", async () => {
    const client = await callerOf(async (connection) => {
      await connection.write(streamHead);
      await sleep(commentMs * 2.5);
      await connection.write(operation.begin);
      await sleep(commentMs * 1.4);
      await connection.write(operation.end);
      return "close";
    });
    const answer = await stream(client);
    expect(answer.text).toMatch(/^:\n(?::\n)*(?:event|data):/);
    expect(answer.text.replace(/^:\n(?::\n)*/, "")).toMatch(/\n\n:\n(?:event|data):/);
    expect(answer.text).not.toMatch(/^:\n\n/m);
    const span = await spanOf(client, answer);
    expect(span).toMatchObject({ status_code: 200, prompt_tokens: 1_000 });
    expect(span["time_to_first_token"] as number).toBeGreaterThan((commentMs * 2.5) / 1e3 - 0.05);
  });

  test("P9: whose head had to be sent still falls back to another model", async () => {
    const late: Script = async (connection) => {
      await sleep(commentMs * 1.5);
      return answers(500, { error: { message: "broken" } })(connection, undefined as never);
    };
    const client = await callerOf(firstThen(late, good));
    const answer = await stream(client, { fallback_models: [operation.otherModel] });
    expect(answer.text.startsWith(":\n")).toBe(true);
    expect(withoutComments(answer.text)).toContain("Hello.");
    expect(await spanOf(client, answer)).toMatchObject({ status_code: 200, attempts: [{ status_code: 500 }, {}] });
  });

  test("P9: whose head had to be sent ends in an error event if every model fails; before that it is a status", async () => {
    const refuses = answers(400, { error: { message: "not like that", code: "bad" } });
    expect(await stream(await callerOf(refuses))).toMatchObject({
      status: 400,
      json: { error: { message: "not like that" } },
    });
    const client = await callerOf(async (...args) => {
      await sleep(commentMs * 1.5);
      return refuses(...args);
    });
    const answer = await stream(client);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    const [last] = withoutComments(answer.text).trim().split("\n\n").slice(-1);
    expect(JSON.parse(last?.replace(/^(?:event: error\n)?data: /, "") ?? "")).toMatchObject({
      error: { message: "not like that" },
    });
    expect(await spanOf(client, answer)).toMatchObject({ status_code: 400, failed: true });
  });

  test("P9: that arrives whole is a stream if its head was sent", async () => {
    const client = await callerOf(async (...args) => {
      await sleep(commentMs * 1.5);
      return answers(200, operation.whole)(...args);
    });
    const answer = await stream(client);
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    const events = withoutComments(answer.text).trim().split("\n\n");
    expect(events.every((each) => /^(?:event: [\w.]+\n)?data: /.test(each))).toBe(true);
    expect(answer.text).toContain("Hello.");
    expect(await spanOf(client, answer)).toMatchObject({ status_code: 200, prompt_tokens: 1_000 });
  });
});

describe.each(namesOf(gatewayOperations))("a whole response of %s", { concurrent: true }, (_name, operation) => {
  const jsonHead = head(200, { "content-type": "application/json" });

  test("P9: that contains only blank lines is aborted while there is time for another model", async () => {
    const client = await callerOf(firstThen(forever(jsonHead, "\n"), answers(200, operation.whole)));
    const answer = await send(client, operation, { fallback_models: [operation.otherModel] });
    expect([answer.status, answer.headers.get("x-spanway-attempts")]).toEqual([200, "2"]);
  });

  test("P9: that stalls in the middle is an upstream failure", async () => {
    const text = JSON.stringify(operation.whole);
    const stalls: Script = async (connection) => {
      await connection.write(jsonHead + text.slice(0, 20));
      await connection.closed(4_000);
      return undefined;
    };
    const client = await callerOf(firstThen(stalls, answers(200, operation.whole)));
    const began = performance.now();
    const answer = await send(client, operation, { fallback_models: [operation.otherModel] });
    expect([answer.status, answer.headers.get("x-spanway-attempts")]).toEqual([200, "2"]);
    expect(performance.now() - began).toBeLessThan(idleMs * 2.5);
  });
});
