import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSpanStore } from "../clickhouse-span-store.ts";
import { spanRow } from "../contract/span-fixtures.ts";
import { openEmbeddedDatabase } from "../drivers/embedded-database.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import type { SpanStore } from "../span-store.ts";

const folder = mkdtempSync(join(tmpdir(), "spanway-sums-"));
let database: SpanDatabase;
let store: SpanStore;
const minute = (n: number) => `2026-04-01 10:${String(n).padStart(2, "0")}:30.000000000`;
const ns = (time: string) => BigInt(Date.parse(time)) * 1_000_000n;
const hour = { fromNs: ns("2026-04-01T10:00:00Z"), toNs: ns("2026-04-01T11:00:00Z") - 1n };

const insert = async (rows: object[]) => {
  const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await store.insert({ ndjson, rows: rows.length, token: randomUUID() });
};
const runPass = async (openMs = 0) => {
  await sleep(30);
  const plan = await store.planSums({ marginMs: 20, openMs });
  if (plan.kind !== "pass") throw new Error("nothing can be planned");
  for (const day of plan.days) {
    const portions = await store.listDueSums(plan.pass, day, { rows: 1_000, slotRows: 1_000 });
    for (const due of portions) await store.buildSums(plan.pass, day.organization_id, due);
  }
  await store.finishSums(plan.pass);
  return plan.days.length;
};
/** Deletes spans without a mark: what is still counted afterwards comes from sums. */
const loseSpans = async (org: string) =>
  await database.execute({
    name: "test",
    sql: `ALTER TABLE spans DELETE WHERE organization_id = '${org}' SETTINGS mutations_sync = 2`,
  });

beforeAll(async () => {
  database = openEmbeddedDatabase(folder, { sumsFromSpans: 0 });
  store = createSpanStore(database);
  await store.migrate();
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("reads without filters", () => {
  it("use sums, and spans for changed slots, at the edges and for windows without whole slots", async () => {
    const org = "org_taken";
    const scope = { organization_id: org };
    const count = async (window = hour) => (await store.summarizeSpans({ scope, window })).number_of_requests;
    await insert(Array.from({ length: 60 }, (_, n) => spanRow(org, { timestamp: minute(n), model: `m${n % 2}` })));
    expect(await count()).toBe(60);
    await runPass();
    await loseSpans(org);
    expect(await count()).toBe(60);
    const withInstant = { ...hour, toNs: hour.toNs + 1n };
    expect(await count(withInstant)).toBe(60);
    await insert([spanRow(org, { timestamp: "2026-04-01 11:00:00.000000000" })]);
    expect([await count(withInstant), await count()]).toEqual([61, 60]);
    // Windows that end just before a slot does use its sums too, unless there are spans in between.
    const toLastMs = { ...hour, toNs: hour.toNs - 999_999n };
    expect([await count(toLastMs), await count({ ...hour, toNs: hour.toNs - 999_999_999n })]).toEqual([60, 60]);
    expect(await count({ ...hour, toNs: hour.toNs - 1_000_000_000n })).toBe(55);
    await insert([spanRow(org, { timestamp: minute(31) })]);
    // The five deleted spans of its slot are no longer counted.
    expect(await count()).toBe(56);
    const aside = { fromNs: ns("2026-04-01T10:02:00Z"), toNs: ns("2026-04-01T10:58:00Z") };
    expect(await count(aside)).toBe(46);
    expect(await count({ ...aside, toNs: ns("2026-04-01T10:18:00Z") })).toBe(0);
    const query = {
      scope,
      window: hour,
      page: 1,
      pageSize: 9,
      sort: { field: "number_of_requests", descending: true },
    };
    const { rows } = await store.groupSpans({ ...query, groupBy: ["model"] } as never);
    expect(rows.map((row) => row.number_of_requests).toSorted((a, b) => a - b)).toEqual([1, 27, 28]);
    const starts = [0, 1_800].map((second) => Date.parse("2026-04-01T10:00:00Z") / 1_000 + second);
    const series = { scope, window: hour, groupBy: [], top: 9, rankBy: "number_of_requests", scores: [] } as const;
    const found = await store.spanSeries({ ...series, starts, metrics: ["number_of_requests"] });
    const points = found.series[0]?.points;
    expect([points?.get(0), points?.get(1)]).toEqual([{ number_of_requests: 30 }, { number_of_requests: 26 }]);
  });

  it("use whole hours, and slots only for changed hours and at the edges", async () => {
    const org = "org_hours";
    const at = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace("T", " ");
    const startMs = Date.parse("2026-04-01T10:00:00Z");
    await insert(Array.from({ length: 72 }, (_, n) => spanRow(org, { timestamp: at(startMs + n * 600_000) })));
    await runPass();
    for (const table of ["spans", "span_sums"])
      await database.execute({
        name: "test",
        sql: `ALTER TABLE ${table} DELETE WHERE organization_id = '${org}' SETTINGS mutations_sync = 2`,
      });
    const count = async (fromMs: number, toMs: number) => {
      const window = { fromNs: BigInt(fromMs) * 1_000_000n, toNs: BigInt(toMs) * 1_000_000n - 1n };
      return (await store.summarizeSpans({ scope: { organization_id: org }, window })).number_of_requests;
    };
    const endMs = startMs + 12 * 3_600_000;
    expect([await count(startMs, endMs), await count(startMs - 1, endMs + 1)]).toEqual([72, 72]);
    // The deleted slots of two hours are missing, and all slots if there are few hours.
    expect(await count(startMs + 600_000, endMs - 600_000)).toBe(60);
    expect(await count(startMs, startMs + 5 * 3_600_000)).toBe(0);
    await insert([spanRow(org, { timestamp: at(startMs + 3 * 3_600_000) })]);
    expect(await count(startMs, endMs)).toBe(67);
  });

  it("exclude spans between the end of the window and the end of its slot", async () => {
    const org = "org_between";
    const scope = { organization_id: org };
    const count = async (window: typeof hour) => (await store.summarizeSpans({ scope, window })).number_of_requests;
    const between = "2026-04-01 10:59:59.999500000";
    await insert(
      [...Array.from({ length: 60 }, (_, n) => minute(n)), between].map((at) => spanRow(org, { timestamp: at })),
    );
    const toLastMs = { ...hour, toNs: hour.toNs - 999_999n };
    for (const _ of ["before", "after"]) {
      expect([await count(toLastMs), await count(hour)]).toEqual([60, 61]);
      await runPass();
    }
  });

  it("use spans for queries that sums cannot serve", async () => {
    const org = "org_beyond";
    const scope = { organization_id: org };
    await insert(Array.from({ length: 60 }, (_, n) => spanRow(org, { timestamp: minute(n), span_name: "a" })));
    await runPass();
    await loseSpans(org);
    const query = {
      scope,
      window: hour,
      page: 1,
      pageSize: 9,
      sort: { field: "number_of_requests", descending: true },
    };
    expect((await store.groupSpans({ ...query, groupBy: ["span_name"] } as never)).rows).toEqual([]);
    const starts = [0, 60].map((second) => Date.parse("2026-04-01T10:00:00Z") / 1_000 + second);
    const series = { scope, window: hour, starts, groupBy: [], top: 9, rankBy: "number_of_requests" } as const;
    const found = await store.spanSeries({ ...series, metrics: ["number_of_requests"], scores: [] });
    expect(found.series[0]?.totals).toBeUndefined();
  });

  it("use spans if an organization has too few in such a window for sums to be faster", async () => {
    const org = "org_few";
    const scope = { organization_id: org };
    await insert(Array.from({ length: 60 }, (_, n) => spanRow(org, { timestamp: minute(n) })));
    await runPass();
    await loseSpans(org);
    const other = openEmbeddedDatabase(folder, { sumsFromSpans: 61 });
    try {
      const spans = createSpanStore(other);
      expect((await spans.summarizeSpans({ scope, window: hour })).number_of_requests).toBe(0);
      const twoHours = { ...hour, toNs: hour.toNs + 3_600_000_000_000n };
      expect((await spans.summarizeSpans({ scope, window: twoHours })).number_of_requests).toBe(60);
    } finally {
      await other.close();
    }
  });

  it("use spans after the last closed slot, anywhere in the window", async () => {
    const org = "org_open";
    const scope = { organization_id: org };
    const count = async () => (await store.summarizeSpans({ scope, window: hour })).number_of_requests;
    await insert(Array.from({ length: 30 }, (_, n) => spanRow(org, { timestamp: minute(n) })));
    await store.resetSums();
    await runPass(Date.now() - Date.parse("2026-04-01T10:30:00Z"));
    await loseSpans(org);
    expect(await count()).toBe(30);
    await insert([spanRow(org, { timestamp: minute(52) })]);
    expect(await count()).toBe(31);
    await insert([spanRow(org, { timestamp: "2026-04-01 10:30:00.000000000" })]);
    expect(await count()).toBe(32);
  });

  it("use sums that a pass without changes does not rebuild", async () => {
    await runPass();
    expect(await runPass()).toBe(0);
  });
});
