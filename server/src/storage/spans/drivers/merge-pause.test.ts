import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Session, drainPending } from "chdb";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { storageLimits } from "../../limits.ts";
import { createMergePause, type MergePause } from "./merge-pause.ts";

const path = mkdtempSync(join(tmpdir(), "spanway-pause-"));
const session = new Session(path);
afterAll(async () => {
  session.close();
  await drainPending();
  rmSync(path, { recursive: true, force: true });
});

let busyShare = 0;
let nowMs = 0;
let pause: MergePause;

beforeEach(async () => {
  [busyShare, nowMs] = [1, 0];
  await session.queryAsync("DROP TABLE IF EXISTS spans SYNC");
  // Merges as soon as there are two parts, so parts stay apart only if merges are paused. Has the engine of the span
  // table, whose parts have level 1 from their insert.
  await session.queryAsync(`CREATE TABLE spans (n UInt64) ENGINE = ReplacingMergeTree ORDER BY n
    SETTINGS merge_selector_base = 2, min_age_to_force_merge_seconds = 1`);
  pause = createMergePause(new Session(path), { everyMs: 20, busyShare: () => busyShare, nowMs: () => nowMs });
});
afterEach(() => pause.stop());

async function insert(parts: number): Promise<void> {
  for (let n = 0; n < parts; n += 1) await session.queryAsync(`INSERT INTO spans VALUES (${n})`);
}

async function smallParts(): Promise<number> {
  const result = await session.queryAsync(
    "SELECT count() FROM system.parts WHERE active AND table = 'spans' AND min_block_number = max_block_number",
    { format: "TabSeparated" },
  );
  return Number(result.text());
}

/** Waits for a tick or two, until the engine was paused or resumed. */
const probes = (): Promise<void> => sleep(200);
const merged = { timeout: 20_000, interval: 50 };

test("pauses merges while the loop is busy and nobody reads, and resumes them when it is idle", async () => {
  await probes();
  await insert(12);
  await sleep(1_500);
  expect(await smallParts()).toBe(12);
  busyShare = 0;
  await vi.waitFor(async () => expect(await smallParts()).toBe(0), merged);
});

test("resumes merges for a while after a read", async () => {
  await probes();
  await insert(12);
  pause.sawRead();
  await vi.waitFor(async () => expect(await smallParts()).toBe(0), merged);
  nowMs += storageLimits.writerReadMs;
  await probes();
  await insert(5);
  await sleep(1_500);
  expect(await smallParts()).toBe(5);
});

test("merges many parts even if the loop is busy", async () => {
  await probes();
  await insert(storageLimits.mergePauseMaxParts + 1);
  await vi.waitFor(async () => expect(await smallParts()).toBeLessThan(storageLimits.mergePauseFromParts), merged);
});

test("completes a delete while the loop is busy", async () => {
  await probes();
  await insert(3);
  await pause.without(() =>
    session.queryAsync("ALTER TABLE spans DELETE WHERE n = 1 SETTINGS mutations_sync = 1").then(() => undefined),
  );
  const left = await session.queryAsync("SELECT count() FROM spans", { format: "TabSeparated" });
  expect(Number(left.text())).toBe(2);
});

test("resumes merges when the store is closed", async () => {
  await probes();
  await insert(5);
  await pause.stop();
  pause = createMergePause(new Session(path), { busyShare: () => 0 });
  await vi.waitFor(async () => expect(await smallParts()).toBe(0), merged);
});
