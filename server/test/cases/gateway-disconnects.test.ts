import { once } from "node:events";
import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chunk, completion, done, helloStream, question } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { answers, head, streamHead, type Script } from "../support/scripted-upstream.ts";
import { settleCalls } from "../support/spans.ts";
import { testKeys } from "../support/test-app.ts";
import type { Row } from "../support/test-client.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

function send(body: Row): ClientRequest {
  const request = httpRequest(new URL("/v1/chat/completions", gateway.app.url), {
    method: "POST",
    headers: { authorization: `Bearer ${testKeys.prod}`, "content-type": "application/json" },
    agent: false,
  });
  request.on("error", () => undefined);
  request.end(JSON.stringify({ model: "gpt-4o", messages: [question], ...body }));
  return request;
}

/** Resolves once the upstream has its request, and has done what comes before the client disconnects. */
function stage(before: Script): { ready: Promise<void>; disconnectedAtMs: Promise<number> } {
  const ready = Promise.withResolvers<void>();
  const disconnected = Promise.withResolvers<number>();
  gateway.upstream.script(async (connection, request) => {
    await before(connection, request);
    ready.resolve();
    await connection.closed(5_000);
    disconnected.resolve(Date.now());
    return undefined;
  });
  return { ready: ready.promise, disconnectedAtMs: disconnected.promise };
}

describe("a client that disconnects", () => {
  const gapsMs: number[] = [];
  test.each<[phase: string, stream: boolean, before: Script, text: string | undefined]>([
    ["before the head of the answer", true, () => undefined, undefined],
    [
      "between the head and the first token",
      true,
      async (connection) => {
        await connection.write(streamHead + (helloStream[0] ?? ""));
        return undefined;
      },
      "",
    ],
    [
      "in the middle of the stream",
      true,
      async (connection) => {
        await connection.write(streamHead + helloStream.slice(0, 2).join(""));
        return undefined;
      },
      "Hel",
    ],
    ["while it waits for a whole answer", false, () => undefined, undefined],
    [
      "in the middle of a whole answer",
      false,
      async (connection) => {
        await connection.write(`${head(200, { "content-type": "application/json" })}{"id":`);
        return undefined;
      },
      undefined,
    ],
  ])("%s closes the upstream and is one span, 499", async (phase, stream, before, text) => {
    const { ready, disconnectedAtMs } = stage(before);
    const request = send({ stream, customer_identifier: phase });
    await ready;
    await sleep(50);
    const leftAtMs = Date.now();
    request.destroy();
    gapsMs.push((await disconnectedAtMs) - leftAtMs);

    const { results } = await gateway.app.prod.waitForSpans(1, { customer_identifier: phase });
    await settleCalls(gateway.app.prod);
    expect((await gateway.app.prod.list({ customer_identifier: phase })).count).toBe(1);
    expect(results[0]).toMatchObject({ status_code: 499, failed: true, prompt_tokens: 3 });
    const message = results[0]?.["completion_message"] as Row | null;
    expect(message?.["content"]).toBe(text);
  });

  test("closes the upstream within 100 ms", () => {
    expect(gapsMs).toHaveLength(5);
    // One of them may coincide with a pause of the machine.
    expect(gapsMs.toSorted((a, b) => a - b)[2]).toBeLessThan(100);
    expect(Math.max(...gapsMs)).toBeLessThan(1_000);
  });
});

describe("a client that reads slowly", () => {
  test("pauses the upstream; others are served meanwhile; its disconnect closes the upstream", async () => {
    const piece = chunk({ content: "x".repeat(64 * 1024) });
    let written = 0;
    const disconnected = Promise.withResolvers<number>();
    gateway.upstream.script(async (connection) => {
      connection.socket.once("close", () => disconnected.resolve(Date.now()));
      await connection.write(streamHead);
      for (let n = 0; n < 800 && !connection.socket.destroyed; n += 1) {
        await connection.write(piece);
        written += piece.length;
      }
      return undefined;
    });
    const before = process.memoryUsage().rss;
    const request = send({ stream: true });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.once("readable", () => undefined);
    await sleep(1_500);
    const stalledAt = written;
    await sleep(500);
    // Neither the gateway nor the upstream's own socket accepts more of the 50 MB.
    expect(written).toBe(stalledAt);
    expect(stalledAt).toBeLessThan(20 * 1024 * 1024);
    // The upstream is in this process too, with its memory.
    expect(process.memoryUsage().rss - before).toBeLessThan(60 * 1024 * 1024);

    gateway.upstream.script(answers(200, completion()));
    const started = performance.now();
    const other = await gateway.app.prod.post("/v1/chat/completions", { model: "gpt-4o", messages: [question] });
    expect(other.status).toBe(200);
    expect(performance.now() - started).toBeLessThan(2_000);

    const leftAtMs = Date.now();
    request.destroy();
    expect((await disconnected.promise) - leftAtMs).toBeLessThan(2_000);
  });

  test("gets everything in the end, byte for byte", async () => {
    const pieces = Array.from({ length: 200 }, (_, n) => chunk({ content: `${n} ${"é".repeat(8 * 1024)}` }));
    const all = [...pieces, chunk({}, "stop"), done].join("");
    gateway.upstream.script(async (connection) => {
      await connection.write(streamHead);
      await connection.write(all);
      return "close";
    });
    const request = send({ stream: true });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const bytes of response) {
      chunks.push(bytes as Buffer);
      if (chunks.length % 16 === 0) await sleep(2);
    }
    expect(Buffer.concat(chunks).toString()).toBe(all);
  });
});
