import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createSpanStore } from "./clickhouse-span-store.ts";
import { openEmbeddedDatabase } from "./drivers/embedded-database.ts";
import type { SpanDatabase } from "./drivers/span-database.ts";

let folder: string;
let database: SpanDatabase;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "spanway-upkeep-"));
  database = openEmbeddedDatabase(join(folder, "spans"));
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true });
});

// For reads of people, merges continue while the node is busy.
test("jobs of the store read beside the reads of people", async () => {
  const query = vi.fn<SpanDatabase["query"]>((...given) => database.query(...given));
  const store = createSpanStore({ ...database, query });
  await store.migrate();
  const organization_id = "org_upkeep";
  const row = { organization_id, environment: "prod", unique_id: randomUUID(), version: "1", model: "m" };
  const line = JSON.stringify({ ...row, timestamp: "2026-05-01 00:00:00.000000000" });
  await store.insert({ ndjson: Buffer.from(`${line}\n`), rows: 1, token: randomUUID() });
  query.mockClear();

  expect(await store.acquireSumsLease("node", 60_000)).toBe(true);
  const plan = await store.planSums({ marginMs: -1_000, openMs: 0 });
  if (plan.kind !== "pass") throw new Error("no pass was planned");
  expect(plan.days).toEqual([{ organization_id, day: "2026-05-01" }]);
  for (const day of plan.days) {
    const portions = await store.listDueSums(plan.pass, day, { rows: 1_000, slotRows: 1_000 });
    expect(portions.length).toBeGreaterThan(0);
    for (const due of portions) await store.buildSums(plan.pass, organization_id, due);
  }
  await store.finishSums(plan.pass);
  expect((await store.readSumsState()).watermarkMs).toBeGreaterThan(0);
  await store.resetSums();
  await store.purgeDeleted(0n);
  await store.deletionProgress();
  await store.sweepMedia(0);
  expect(query).not.toHaveBeenCalled();
});
