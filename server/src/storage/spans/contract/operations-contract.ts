import { randomUUID } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { parseFilters } from "../../../filter/parse.ts";
import { createScoreSources } from "../../../filter/score-sources.ts";
import { createSpanCatalogue } from "../../../filter/span-fields.ts";
import { toClickHouse } from "../../../filter/to-clickhouse.ts";
import { isPoisonBatch } from "../span-store.ts";
import type { ContractDriver } from "./span-fixtures.ts";
import {
  always,
  descending,
  everythingOf,
  firstPage,
  listOf,
  mostFirst,
  newOrganization,
  nsAt,
  slowly,
  spanRow,
  timeAt,
} from "./span-fixtures.ts";

const verySlowly = { timeout: 150_000, interval: 200 };

export function describeFailures({ store, insert, open }: ContractDriver): void {
  describe("failures", () => {
    it("reports a batch that can never be stored, and stores nothing of it", async () => {
      const org = newOrganization();
      const bad = ['{"organization_id":', '{"timestamp":"yesterday"}', '{"unique_id":"42"}', '{"cost":{"a":1}}'];
      for (const inputChars of [0, 1_000_000]) {
        const good = JSON.stringify(spanRow(org, { input: "x".repeat(inputChars) }));
        for (const line of bad) {
          const ndjson = Buffer.from(`${good}\n${line}\n`);
          await expect(store().insert({ ndjson, rows: 2, token: randomUUID() }), line).rejects.toSatisfy(isPoisonBatch);
        }
      }
      expect((await store().listSpans(listOf(org))).count).toBe(0);
      await insert([spanRow(org)]);
      expect((await store().listSpans(listOf(org))).count).toBe(1);
    });

    it("rejects a query that exceeds its limits, and keeps working", async () => {
      const org = newOrganization();
      await insert(
        Array.from({ length: 200 }, (_, i) =>
          spanRow(org, { customer_identifier: `user ${i}`, input: "x".repeat(5000) }),
        ),
      );
      const slow = { sql: "sleepEachRow(0.02) = 0", params: {} };
      const hungry = { sql: "arraySum(arrayMap(x -> cityHash64(input, x), range(100000))) != 0", params: {} };
      const [hasty, lean] = [open({ timeMs: 500 }), open({ memoryBytes: 4 * 1024 * 1024 })];
      try {
        const tooLarge = { code: "query_too_large", name: "ServiceError" };
        await expect(hasty.summarizeSpans({ ...everythingOf(org), filter: slow })).rejects.toMatchObject(tooLarge);
        await expect(hasty.listSpans(listOf(org, { filter: slow }))).rejects.toMatchObject(tooLarge);
        await expect(lean.summarizeSpans({ ...everythingOf(org), filter: hungry })).rejects.toMatchObject(tooLarge);
        expect((await hasty.listSpans(listOf(org))).count).toBe(200);
        expect((await store().listSpans(listOf(org))).count).toBe(200);
      } finally {
        await Promise.all([hasty.close(), lean.close()]);
      }
    });

    it("ends a query when its caller disconnects", async () => {
      const org = newOrganization();
      await insert([spanRow(org)]);
      const leaving = new AbortController();
      const slow = { sql: "(SELECT count() FROM numbers(20000000000) WHERE cityHash64(number) = 1) = 0", params: {} };
      const running = store().summarizeSpans({ ...everythingOf(org), filter: slow }, leaving.signal);
      setTimeout(() => leaving.abort(new Error("gone")), 100);
      const started = performance.now();
      await expect(running).rejects.toThrow("gone");
      expect(performance.now() - started).toBeLessThan(10_000);
      await expect(store().listSpans(listOf(org), AbortSignal.abort(new Error("never came")))).rejects.toThrow(
        "never came",
      );
    });

    it("never returns rows of a failed query in a later one", async () => {
      const [loud, quiet] = [newOrganization(), newOrganization()];
      await insert(
        Array.from({ length: 3000 }, (_, i) => spanRow(loud, { model: "secret", timestamp: timeAt(i % 50) })),
      );
      await insert([spanRow(quiet, { model: "own" })]);
      const failing = { sql: "throwIf(rand() % 1000 = 0) = 0", params: {} };
      for (let round = 0; round < 10; round += 1) {
        const list = listOf(loud, { filter: failing, fields: ["model"], pageSize: 1000, sort: descending("cost") });
        await store()
          .listSpans(list)
          .catch(() => undefined);
        const { count, rows } = await store().listSpans(listOf(quiet, { fields: ["model"] }));
        expect([count, rows.map((row) => row.model)]).toEqual([1, ["own"]]);
      }
    });

    it("rejects queries if too many wait", async () => {
      const org = newOrganization();
      await insert([spanRow(org)]);
      const narrow = open({ inFlight: 1, queued: 1 });
      try {
        const slow = { ...everythingOf(org), filter: { sql: "sleepEachRow(0.3) = 0", params: {} } };
        const query = { ...slow, groupBy: ["model"], ...firstPage, sort: mostFirst } as const;
        const results = await Promise.allSettled([1, 2, 3].map(() => narrow.groupSpans(query)));
        expect(results.map((result) => result.status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
        expect(results[2]).toMatchObject({ reason: { code: "unavailable", retryAfterS: 1 } });
      } finally {
        await narrow.close();
      }
    });
  });
}

export function describeUpkeep({ store, insert, open, once }: ContractDriver): void {
  describe("upkeep", () => {
    it("migrates from two nodes at the same time, and again", async () => {
      const nodes = [open(), open()];
      try {
        await Promise.all(nodes.map((node) => node.migrate()));
        const org = newOrganization();
        await insert([spanRow(org)]);
        const counts = await Promise.all(nodes.map(async (node) => (await node.listSpans(listOf(org))).count));
        expect(counts).toEqual([1, 1]);
      } finally {
        await Promise.all(nodes.map((node) => node.close()));
      }
    });

    it("deletes only spans received before the cutoff, whatever their own times", async () => {
      const [org, other] = [newOrganization(), newOrganization()];
      // Received in the order of their times, except for one with a clock at 1970.
      const rows = [0, 1, 2].map((i) => ({ timestamp: timeAt(i), received_at: timeAt(i) }));
      const wrongClock = { timestamp: "1970-01-01 00:00:00.000000000", received_at: timeAt(2) };
      await insert([org, other].flatMap((o) => [...rows, wrongClock].map((row) => spanRow(o, row))));
      expect(await store().deleteExpired(new Map([[org, nsAt(1)]]))).toMatchObject({ rows: 1, months: 1 });
      const timesOf = async (o: string) =>
        (await store().listSpans(listOf(o, { window: always }))).rows.map((row) => row.timestamp);
      await vi.waitFor(
        async () => expect(await timesOf(org)).toEqual([timeAt(2), timeAt(1), wrongClock.timestamp]),
        slowly,
      );
      expect(await timesOf(other)).toEqual([timeAt(2), timeAt(1), timeAt(0), wrongClock.timestamp]);
      const nothing = { rows: 0, months: 0, overdueMs: 0 };
      expect(await store().deleteExpired(new Map([[newOrganization(), nsAt(1)]]))).toEqual(nothing);
      expect(await store().deleteExpired(new Map())).toEqual(nothing);
    });

    it("deletes expired spans of each organization, in whole months and parts of months", async () => {
      const [org, other, third] = [newOrganization(), newOrganization(), newOrganization()];
      const inMonth = (month: string, second: number) => ({
        timestamp: `${month}-05 00:00:00.000000000`,
        received_at: timeAt(second),
      });
      const months = ["2023-02", "2023-03"].map((month) => (second: number) => inMonth(month, second));
      const rowsOf = (o: string, seconds: readonly number[]) =>
        months.flatMap((at, month) => seconds.map((second) => spanRow(o, at(second + month))));
      await insert([...rowsOf(org, [0, 1]), ...rowsOf(other, [5]), ...rowsOf(third, [0])]);
      const cutoffs = new Map([
        [org, nsAt(2)],
        [other, nsAt(6)],
        [newOrganization(), nsAt(9)],
      ]);
      // In March, one span of `org` and the one of `other` stay.
      expect(await store().deleteExpired(cutoffs)).toEqual({ rows: 4, months: 2, overdueMs: 2_000 });
      const countOf = async (o: string) => (await store().listSpans(listOf(o, { window: always }))).count;
      await vi.waitFor(
        async () => expect(await Promise.all([org, other, third].map(countOf))).toEqual([1, 1, 2]),
        slowly,
      );
      await vi.waitFor(async () => expect(await store().deletionProgress()).toEqual({ parts: 0, bytes: 0 }), slowly);
      expect(await store().deleteExpired(cutoffs)).toEqual({ rows: 0, months: 0, overdueMs: 0 });
    });

    it("frees what a deletion hides, then its tombstones, so that the same span can be stored again", async () => {
      const [org, other] = [newOrganization(), newOrganization()];
      const probe = spanRow(org, { trace_unique_id: "gone" });
      await insert([probe, spanRow(org), spanRow(other, { trace_unique_id: "gone" })]);
      const place = { organization_id: org, environment: "prod", trace_unique_id: "gone" } as const;
      await store().deleteTraces([{ ...place, fromNs: nsAt(0), toNs: nsAt(0), deletedAtMs: 0 }]);
      const counts = async () => Promise.all([org, other].map(async (o) => (await store().listSpans(listOf(o))).count));
      expect(await counts()).toEqual([1, 1]);
      const future = BigInt(Date.now() + 60_000) * 1_000_000n;
      const purged = () =>
        vi.waitFor(async () => expect(await store().deletionProgress()).toEqual({ parts: 0, bytes: 0 }), slowly);
      await vi.waitFor(async () => {
        // Rows stored while the tombstone exists are hidden too, and must be deleted before it.
        for (let pass = 0; pass < 3; pass += 1) {
          await store().purgeDeleted(future);
          await purged();
        }
        await insert([probe]);
        expect(await counts()).toEqual([2, 1]);
      }, verySlowly);
    });

    it("deletes copies of scores that were created before the cutoff, of that organization only", async () => {
      const [org, other] = [newOrganization(), newOrganization()];
      const copies = [org, other].flatMap((organization_id) =>
        [0, 1, 2].map((i) => ({
          organization_id,
          unique_id: randomUUID(),
          evaluator_id: "judge",
          version: "1",
          is_deleted: 0,
          environment: "prod",
          evaluator_slug: "judge",
          evaluator_name: "Judge",
          score_value_type: "numerical",
          text: String(i),
          value: i,
          is_passed: null,
          created_at: timeAt(i).slice(0, 23),
        })),
      );
      const rows = copies.map((copy) =>
        spanRow(copy.organization_id, { unique_id: copy.unique_id, received_at: timeAt(2) }),
      );
      await insert(rows);
      const ndjson = Buffer.from(copies.map((copy) => `${JSON.stringify(copy)}\n`).join(""));
      await store().insert({ ndjson, rows: copies.length, token: randomUUID(), table: "scores" });
      const catalogue = createSpanCatalogue(createScoreSources());
      const { filter: tree } = parseFilters({ scores__judge: { operator: "isnull", value: [false] } }, catalogue);
      const filter = toClickHouse(tree, catalogue);
      const scored = async (o: string) => (await store().listSpans(listOf(o, { window: always, filter }))).rows.length;
      expect([await scored(org), await scored(other)]).toEqual([3, 3]);
      await store().deleteExpired(new Map([[org, nsAt(1)]]));
      await vi.waitFor(async () => expect(await scored(org)).toBe(2), slowly);
      expect(await scored(other)).toBe(3);
    });

    it("responds to a ping", async () => {
      await expect(store().ping()).resolves.toBeUndefined();
    });

    // Last, because every later statement would read hundreds of parts.
    once("accepts 300 months in one batch", async () => {
      const org = newOrganization();
      const months = Array.from({ length: 300 }, (_, i) => new Date(Date.UTC(2010, i, 3)).toISOString().slice(0, 10));
      await insert(months.map((day) => spanRow(org, { timestamp: `${day} 00:00:00.000000000` })));
      expect((await store().listSpans(listOf(org, { window: always }))).count).toBe(300);
    });
  });
}
