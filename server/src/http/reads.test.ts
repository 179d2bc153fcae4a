import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import type { FairGateBounds } from "../lib/fair-gate.ts";
import { endpoint } from "./endpoint.ts";
import { bearer, startServer } from "./test-support.ts";

const shared = {
  method: "GET",
  summary: "A demo",
  tags: ["Demo"],
  auth: "key",
  errors: ["unavailable"],
  success: { status: 200, schema: z.unknown() },
} as const;

let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

/** A server with one read that lasts until it is released, and one endpoint that responds immediately. */
async function start(reads: Partial<FairGateBounds>) {
  const reading: { path: string; finish: () => void }[] = [];
  const server = await startServer({
    endpoints: [
      endpoint({
        ...shared,
        id: "read",
        path: "/read/{name}/",
        waitsInQueue: true,
        handler: async ({ params }) => {
          await new Promise<void>((finish) => reading.push({ path: params.name, finish }));
          return params.name;
        },
      }),
      endpoint({ ...shared, id: "other", path: "/other/", handler: () => "at once" }),
    ],
    bounds: { reads: { maxInFlight: 1, maxWaiting: 10, maxWaitMs: 60_000, ...reads } },
  });
  close = server.close;
  const get = (path: string, key = "key-a1", signal?: AbortSignal) =>
    fetch(server.url + path, { headers: bearer(key), ...(signal && { signal }) });
  const waiting = async (count: number): Promise<void> => {
    while (!(await server.registry.metrics()).includes(`http_reads_waiting ${count}`)) await sleep(5);
  };
  const started = async (count: number): Promise<void> => {
    while (reading.length < count) await sleep(5);
  };
  return { ...server, get, reading, waiting, started };
}

test("a burst of reads is queued fairly by organization, and never delays other requests", async () => {
  const { get, reading, waiting, started } = await start({});
  const answers = [get("/read/a1/")];
  await started(1);
  for (const [at, [name, key]] of [["a2"], ["a3"], ["b1", "key-b1"]].entries()) {
    answers.push(get(`/read/${name}/`, key));
    await waiting(at + 1);
  }
  expect(await (await get("/other/")).json()).toBe("at once");
  for (let at = 0; at < answers.length; at += 1) {
    await started(at + 1);
    reading[at]?.finish();
  }
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(reading.map(({ path }) => path)).toEqual(["a1", "a2", "b1", "a3"]);
});

test.each([
  ["full", { maxWaiting: 0 }],
  ["late", { maxWaitMs: 30 }],
])("a read that the queue refuses (%s) is 503 with Retry-After, and counted", async (reason, bounds) => {
  const { get, reading, started, registry } = await start(bounds);
  const first = get("/read/a1/");
  await started(1);
  const refused = await get("/read/a2/");
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("2");
  expect(await refused.json()).toMatchObject({ code: "unavailable", retry_after: 2 });
  expect(await registry.metrics()).toContain(`http_read_refusals_total{reason="${reason}"} 1`);
  reading[0]?.finish();
  expect((await first).status).toBe(200);
});

test("slow reads of one organization leave places for reads of another, which start immediately", async () => {
  const { get, reading, started, waiting } = await start({ maxInFlight: 10, maxWaiting: 100, sharesSlots: true });
  const answers = Array.from({ length: 20 }, (_, at) => get(`/read/a${at}/`));
  await waiting(12);
  answers.push(get("/read/b/", "key-b1"));
  await started(9);
  expect(reading.at(-1)?.path).toBe("b");
  for (let at = 0; at < answers.length; at += 1) {
    await started(at + 1);
    reading[at]?.finish();
  }
  expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]));
});

test("a disconnected caller leaves the queue", async () => {
  const { get, reading, started, waiting } = await start({});
  const first = get("/read/a1/");
  await started(1);
  const leaving = new AbortController();
  const left = get("/read/a2/", "key-a1", leaving.signal).catch(() => "left");
  await waiting(1);
  leaving.abort();
  expect(await left).toBe("left");
  await waiting(0);
  reading[0]?.finish();
  expect((await first).status).toBe(200);
});
