import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { createAddressGuard } from "../../outgoing/address-guard.ts";
import { createPools } from "../../outgoing/pools.ts";
import { Exchange, type UpstreamTimeouts } from "./exchange.ts";

afterEach(() => void vi.useRealTimers());

/** Sends a request to an upstream that does not respond until the test makes it. Timers are faked from then on. */
async function send(timeouts: UpstreamTimeouts) {
  const requested = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => requested.resolve(response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const pools = createPools({ guard: createAddressGuard({ allowed: [], connectMs: 1_000 }) });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const ended = Promise.withResolvers<string>();
  let text = "";
  const exchange = new Exchange(
    {
      onHead: () => undefined,
      onData: (bytes) => void (text += bytes.toString()),
      onEnd: () => ended.resolve(text),
      onFailure: ({ message }) => ended.resolve(message),
    },
    timeouts,
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  exchange.start(pools, { method: "POST", url, headers: {}, body: Buffer.from("{}") }, "operator");
  const response = await requested.promise;
  const stop = async (): Promise<void> => {
    pools.close();
    server.close();
  };
  return { exchange, response, ended: ended.promise, stop };
}

test("accepts a response that takes longer than five minutes: only our own timeouts apply", async () => {
  const { exchange, response, ended, stop } = await send({ firstByteMs: 600_000, idleMs: 600_000, totalMs: 1_800_000 });
  await vi.advanceTimersByTimeAsync(301_000);
  response.write("late ");
  exchange.markStarted();
  await vi.advanceTimersByTimeAsync(301_000);
  response.end("but here");
  expect(await ended).toBe("late but here");
  await stop();
});

test("P9: silence is allowed until the first content and is a fault after it", async () => {
  const { exchange, response, ended, stop } = await send({ firstByteMs: 9_000, idleMs: 1_000, totalMs: 90_000 });
  response.write(": thinking");
  await vi.advanceTimersByTimeAsync(8_000);
  exchange.markStarted();
  await vi.advanceTimersByTimeAsync(1_001);
  expect(await ended).toBe("The provider sent nothing for 1000 ms.");
  await stop();
});

test("P9: bytes that keep the connection alive before the first content do not count as the response", async () => {
  const { response, ended, stop } = await send({ firstByteMs: 9_000, idleMs: 1_000, totalMs: 90_000 });
  for (let n = 0; n < 9; n += 1) {
    response.write(": thinking");
    await vi.advanceTimersByTimeAsync(1_001);
  }
  expect(await ended).toBe("The provider did not answer within 9000 ms.");
  await stop();
});

test.each<[what: string, timeouts: UpstreamTimeouts, message: string]>([
  ["the head", { firstByteMs: 1_000, idleMs: 9_000, totalMs: 9_000 }, "did not answer within 1000 ms"],
  ["all of it", { firstByteMs: 9_000, idleMs: 9_000, totalMs: 1_000 }, "took longer than a call may"],
])("a response that is late with %s fails", async (_what, timeouts, message) => {
  const { ended, stop } = await send(timeouts);
  await vi.advanceTimersByTimeAsync(1_001);
  expect(await ended).toBe(`The provider ${message}.`);
  await stop();
});
