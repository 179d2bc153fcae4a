import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gatewayOperations, send } from "../support/gateway-operations.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { streamHead } from "../support/scripted-upstream.ts";
import { testKeys } from "../support/test-app.ts";

/** P9, with the default times. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const operation = gatewayOperations[0]!;

test("P9: a stream that is silent for 15 s gets a comment, and a body that stalls for 60 s is an upstream failure", async () => {
  gateway.upstream.script(async (connection) => {
    await connection.write(streamHead + operation.begin);
    await sleep(100_000, undefined, { ref: false });
    return "close";
  });
  const { bytes, type } = operation.body({ model: operation.model, stream: true, retries: 0 });
  const beganMs = performance.now();
  const answer = await fetch(gateway.app.url + operation.path, {
    method: "POST",
    headers: { authorization: `Bearer ${testKeys.prod}`, "content-type": type },
    body: new Uint8Array(bytes),
  });
  const arrived: [seconds: number, text: string][] = [];
  for await (const chunk of answer.body ?? [])
    arrived.push([(performance.now() - beganMs) / 1_000, Buffer.from(chunk as Uint8Array).toString()]);
  const comments = arrived.filter(([, text]) => text === ":\n");
  expect(comments.map(([seconds]) => Math.round(seconds / 15) * 15)).toEqual([15, 30, 45]);
  for (const [seconds] of comments) expect(seconds % 15).toBeLessThan(2);
  const [endedS, end] = arrived.at(-1)!;
  expect(end).toContain('"type":"upstream_error"');
  expect([endedS > 59.9, endedS < 65]).toEqual([true, true]);
  expect(await send(gateway.app.prod, operation, { model: "spanway/echo" })).toMatchObject({ status: 200 });
}, 90_000);
