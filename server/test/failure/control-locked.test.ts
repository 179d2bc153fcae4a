import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storageLimits } from "../../src/storage/limits.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

/** Another connection that holds the write lock, as a shell or a copy of the file may. The result releases it. */
async function lockControlStore(): Promise<() => void> {
  // A key that was used is in memory.
  await app.prod.get("/api/request-logs/list/");
  const other = new DatabaseSync(join(app.dataDir, "control.db"));
  other.exec("begin immediate");
  return () => other.close();
}

const timed = async <T>(work: Promise<T>): Promise<{ value: T; ms: number }> => {
  const startMs = performance.now();
  return { value: await work, ms: performance.now() - startMs };
};

test("a lock on the control store's file delays writes to it, and nothing else", async () => {
  const release = await lockControlStore();
  const write = timed(app.prod.post("/api/users/", { customer_identifier: "delayed" }));
  await sleep(300);
  const others = await Promise.all([
    timed(app.prod.get("/livez")),
    timed(app.prod.post("/api/request-logs/", { input: "while locked" })),
    timed(app.prod.get("/api/request-logs/list/")),
  ]);
  await sleep(1_000);
  release();
  const { value, ms } = await write;
  expect([value.status, ms > 1_300, ...others.map((other) => other.value.status)]).toEqual([201, true, 200, 201, 200]);
  expect(Math.max(...others.map((other) => other.ms))).toBeLessThan(4_000);
});

test("a write that waits too long for the lock is 503 with Retry-After", async () => {
  const release = await lockControlStore();
  const { value, ms } = await timed(app.prod.post("/api/users/", { customer_identifier: "refused" }));
  release();
  expect(ms).toBeGreaterThan(storageLimits.controlBusyMs - 1_000);
  expect([value.status, value.headers.get("retry-after")]).toEqual([503, "5"]);
  expect((await app.prod.post("/api/users/", { customer_identifier: "refused" })).status).toBe(201);
});
