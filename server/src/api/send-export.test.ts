import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Context } from "../http/endpoint.ts";
import { apiLimits } from "./limits.ts";
import { sendExport } from "./send-export.ts";

/** A client that reads nothing, with fake timers: the wait is a minute. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function stalledClient(encoding: string) {
  const leaving = new AbortController();
  const response = Object.assign(new EventEmitter(), {
    writeHead: vi.fn<() => void>(),
    write: (): boolean => false,
    end: vi.fn<() => void>(),
  });
  const context = { headers: { "accept-encoding": encoding }, signal: leaving.signal, hijack: () => response };
  return { leaving, response, context: context as unknown as Context };
}

/** Produces megabytes for as long as they are accepted. */
function endless() {
  let handedOn = 0;
  const write = async (take: (bytes: Buffer) => Promise<void>): Promise<void> => {
    for (;;) {
      handedOn += 1;
      // Random bytes, because gzip would shrink uniform ones.
      await take(Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))));
    }
  };
  return { write, handedOn: () => handedOn };
}

test.each(["identity", "gzip"])("ends the export after exportStallMs, with little buffered (%s)", async (encoding) => {
  const { context, response } = stalledClient(encoding);
  const file = endless();
  const sent = sendExport(context, { name: "spans.csv", format: "csv" }, file.write);
  const ended = sent.catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(apiLimits.exportStallMs - 1_000);
  expect(file.handedOn()).toBeLessThan(10);
  const before = file.handedOn();
  await vi.advanceTimersByTimeAsync(apiLimits.exportStallMs + 1_000);
  expect(await ended).toMatchObject({ code: "unavailable", message: expect.stringContaining("took nothing") });
  expect(file.handedOn()).toBe(before);
  expect(response.end).not.toHaveBeenCalled();
});

test("ends it immediately when the client disconnects", async () => {
  const { context, leaving } = stalledClient("identity");
  const ended = sendExport(context, { name: "spans.csv", format: "csv" }, endless().write).catch(
    (error: unknown) => error,
  );
  await vi.advanceTimersByTimeAsync(10);
  leaving.abort(new Error("left"));
  expect(await ended).toEqual(new Error("left"));
});

test("ends if the client disconnects after the last byte", async () => {
  vi.useRealTimers();
  const { context, leaving, response } = stalledClient("gzip");
  response.write = () => true;
  const ended = sendExport(context, { name: "spans.csv", format: "csv" }, async (take) => {
    await take(Buffer.from("last"));
    leaving.abort(new Error("left"));
    await sleep(50);
  }).catch((error: unknown) => error);
  expect(await Promise.race([ended, sleep(2_000)])).toEqual(new Error("left"));
});
