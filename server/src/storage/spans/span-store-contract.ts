import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SpanColumn } from "../../domain/span.ts";
import { spanColumns } from "../../domain/span.ts";
import { parseTimeNs } from "../../lib/time.ts";
import type { QueryBounds } from "./drivers/span-database.ts";
import type { ListSpansQuery, SpanSort, SpanSortField, SpanStore, StoredSpan } from "./span-store.ts";
import { isPoisonBatch, spanGroupings, spanGroupSortFields, spanSortFields } from "./span-store.ts";

/** What every driver of the span store keeps to. `open` may be called again: each call is a node of its own. */
export function describeSpanStore(driver: string, open: (bounds?: Partial<QueryBounds>) => SpanStore): void {
  describe(`span store on ${driver}`, () => {
    let store: SpanStore;
    beforeAll(async () => {
      store = open();
      await store.migrate();
    });
    afterAll(async () => {
      await store.close();
    });

    const insert = async (rows: readonly object[], token: string = randomUUID()) => {
      const lines = rows.map((row) => JSON.stringify(row));
      await store.insert({ ndjson: Buffer.from(`${lines.join("\n")}\n`), rows: rows.length, token });
    };

    describe("what goes in comes out", () => {
      it("keeps every column exactly", async () => {
        const org = newOrganization();
        const sent = fullRow(org);
        await store.insert({ ndjson: Buffer.from(ndjsonLine(sent)), rows: 1, token: randomUUID() });
        const span = await store.retrieveSpan({ organization_id: org }, sent.unique_id);
        expect(span).toEqual(expectedFullRow(sent));
      });

      it("gives absent members as absent", async () => {
        const org = newOrganization();
        const row = spanRow(org);
        await insert([row]);
        const span = await store.retrieveSpan({ organization_id: org }, row.unique_id);
        for (const [column, kind] of Object.entries(spanColumns)) {
          if (column in row || ["start_time", "received_at", "is_deleted"].includes(column)) continue;
          const absent = kind === "map" ? {} : ["text", "json"].includes(kind) ? "" : null;
          expect(span?.[column as SpanColumn], column).toEqual(absent);
        }
        expect(span?.start_time).toBe(row.timestamp);
      });

      it("keeps the JSON of a member as it was written", async () => {
        const org = newOrganization();
        const texts = [
          '{"b": 1, "a":[ ]}',
          "{}",
          "[1,null]",
          "12.50",
          "true",
          '{"n":12345678901234567890123,"u":"\\u00e9\\ud83d\\ude00"}',
        ];
        const rows = texts.map(() => spanRow(org));
        const lines = rows.map((row, i) => `${JSON.stringify(row).slice(0, -1)},"metadata":${texts[i]}}\n`);
        await store.insert({ ndjson: Buffer.from(lines.join("")), rows: rows.length, token: randomUUID() });
        const read = await Promise.all(rows.map((row) => store.retrieveSpan({ organization_id: org }, row.unique_id)));
        expect(read.map((span) => span?.metadata)).toEqual(texts);
      });

      it("tells instants apart by a nanosecond and takes dates of any year in one batch", async () => {
        const org = newOrganization();
        const times = [
          "1900-01-01 00:00:00.000000000",
          "1970-01-01 00:00:00.000000001",
          "1970-01-01 00:00:00.000000002",
          "2026-05-05 05:05:05.123456788",
          "2026-05-05 05:05:05.123456789",
          "2262-04-11 23:47:16.854775807",
        ];
        await insert(times.map((timestamp) => spanRow(org, { timestamp })));
        const { count, rows } = await store.listSpans(listOf(org, { window: always, sort: ascending("timestamp") }));
        expect(count).toBe(6);
        expect(rows.map((row) => row.timestamp)).toEqual(times);
        const one = parseTimeNs("1970-01-01T00:00:00.000000002Z") ?? 0n;
        expect((await store.listSpans(listOf(org, { window: { fromNs: one, toNs: one } }))).count).toBe(1);
      });

      it("takes 300 months in one batch", async () => {
        const org = newOrganization();
        const months = Array.from({ length: 300 }, (_, i) => new Date(Date.UTC(2010, i, 3)).toISOString().slice(0, 10));
        await insert(months.map((day) => spanRow(org, { timestamp: `${day} 00:00:00.000000000` })));
        expect((await store.listSpans(listOf(org, { window: always }))).count).toBe(300);
      });
    });

    describe("one span, many rows", () => {
      it("shows a resend once, whole, and the higher version in either order", async () => {
        const org = newOrganization();
        const first = spanRow(org, { version: "10", model: "gpt-4o", input: "asked", cost: 1 });
        const fuller = { ...first, version: "20", model: "gpt-4o-mini", input: undefined, cost: 2 };
        await insert([first]);
        await insert([first]);
        await insert([fuller]);
        await insert([first]);
        const { count, rows } = await store.listSpans(listOf(org, { fields: ["model", "input", "cost"] }));
        expect(count).toBe(1);
        expect(rows[0]).toMatchObject({ model: "gpt-4o-mini", input: "", cost: 2 });
        expect(await store.retrieveSpan({ organization_id: org }, first.unique_id)).toMatchObject({
          cost: 2,
          version: "20",
        });
        expect(await store.summarizeSpans(everythingOf(org))).toMatchObject({ number_of_requests: 1, total_cost: 2 });
      });

      it("moves a span whose timestamp changed by a tombstone on the old one", async () => {
        const org = newOrganization();
        const started = spanRow(org, { version: "10", timestamp: "2026-05-05 10:00:00.000000000" });
        const ended = { ...started, version: "20", timestamp: "2026-05-05 10:30:00.000000000", output: "done" };
        await insert([started]);
        await insert([ended, { ...keyOf(started), version: "20", is_deleted: 1 }]);
        const { count, rows } = await store.listSpans(listOf(org, { fields: ["output"] }));
        expect([count, rows.map((row) => row.output)]).toEqual([1, ["done"]]);
        expect(await store.retrieveSpan({ organization_id: org }, started.unique_id)).toMatchObject({ output: "done" });
      });

      it("hides a span behind its tombstone", async () => {
        const org = newOrganization();
        const [kept, gone] = [spanRow(org, { cost: 1 }), spanRow(org, { cost: 5 })];
        await insert([kept, gone]);
        await insert([{ ...keyOf(gone), version: "99", is_deleted: 1 }]);
        expect((await store.listSpans(listOf(org))).rows.map((row) => row.unique_id)).toEqual([kept.unique_id]);
        expect(await store.retrieveSpan({ organization_id: org }, gone.unique_id)).toBeUndefined();
        expect((await store.summarizeSpans(everythingOf(org))).total_cost).toBe(1);
      });

      it("still fills a page when most rows near the end of the window are resends", async () => {
        const org = newOrganization();
        const rows = Array.from({ length: 30 }, (_, i) => spanRow(org, { timestamp: timeAt(i) }));
        const again = rows.slice(20);
        await insert(rows);
        for (let round = 0; round < 9; round += 1)
          await insert(again.map((row) => ({ ...row, version: String(100 + round) })));
        const { count, rows: page } = await store.listSpans(listOf(org, { pageSize: 15 }));
        expect([count, page.map((row) => row.unique_id)]).toEqual([
          30,
          rows
            .slice(15)
            .toReversed()
            .map((row) => row.unique_id),
        ]);
      });

      it("stores a batch once for one token", async () => {
        const org = newOrganization();
        // Rows without deduplication by key: the version of a tie decides nothing about how many rows were written.
        const batch = [spanRow(org), spanRow(org)];
        await insert(batch, "node:1-2");
        await insert(batch, "node:1-2");
        expect((await store.listSpans(listOf(org))).count).toBe(2);
      });
    });

    describe("tenants", () => {
      it("keeps organisations and environments apart, with the same ids in all of them", async () => {
        const [one, two] = [newOrganization(), newOrganization()];
        const shared = spanRow(one);
        const rows = [one, two].flatMap((organization_id) =>
          ["prod", "test"].map((environment) => ({
            ...shared,
            organization_id,
            environment,
            model: `${organization_id}/${environment}`,
          })),
        );
        await insert(rows);
        for (const { organization_id, environment, model } of rows) {
          const scope = { organization_id, environment: environment as "prod" };
          const listed = await store.listSpans(listOf(organization_id, { scope, fields: ["model"] }));
          expect([listed.count, listed.rows.map((row) => row.model)]).toEqual([1, [model]]);
          expect((await store.retrieveSpan(scope, shared.unique_id))?.model).toBe(model);
          const groups = await store.groupSpans({
            ...everythingOf(organization_id),
            scope,
            groupBy: "model",
            ...firstPage,
            sort: mostFirst,
          });
          expect(groups.rows.map((group) => group.key)).toEqual([{ model }]);
        }
        expect((await store.listSpans(listOf(one))).count).toBe(2);
        expect(await store.retrieveSpan({ organization_id: newOrganization() }, shared.unique_id)).toBeUndefined();
        await store.deleteOlderThan(one, always.toNs);
        expect([(await store.listSpans(listOf(one))).count, (await store.listSpans(listOf(two))).count]).toEqual([
          0, 2,
        ]);
      });
    });

    describe("lists", () => {
      it("pages through 53 spans of one instant without loss or repeat", async () => {
        const org = newOrganization();
        const rows = Array.from({ length: 53 }, () => spanRow(org));
        await insert(rows);
        for (const sort of [descending("timestamp"), ascending("timestamp"), descending("cost"), ascending("model")]) {
          const seen: string[] = [];
          for (let page = 1; page <= 6; page += 1) {
            const result = await store.listSpans(listOf(org, { sort, page, pageSize: 10 }));
            expect(result.count).toBe(53);
            seen.push(...result.rows.map((row) => row.unique_id));
          }
          expect([seen.length, new Set(seen).size], sort.field).toEqual([53, 53]);
        }
        expect(await store.listSpans(listOf(org, { page: 7, pageSize: 10 }))).toEqual({ count: 53, rows: [] });
      });

      it("sorts by every field both ways, what is absent last", async () => {
        const org = newOrganization();
        const values = [3, 1, undefined, 2];
        await insert(
          values.map((value, i) =>
            spanRow(org, {
              timestamp: timeAt(i),
              start_time: timeAt(10 - i),
              ...(value === undefined ? {} : measuresOf(value)),
            }),
          ),
        );
        for (const field of spanSortFields) {
          const column = sortedColumns[field] ?? (field as SpanColumn);
          const valuesBy = async (sort: SpanSort) => {
            const { count, rows } = await store.listSpans(listOf(org, { sort, fields: [column] }));
            expect(count).toBe(4);
            return rows.map((row) => row[column]);
          };
          const up = await valuesBy(ascending(field));
          const down = await valuesBy(descending(field));
          const present = up.filter((value) => value !== null && value !== "");
          expect(present, field).toEqual(present.toSorted(compareValues));
          expect(down.slice(0, present.length), field).toEqual(present.toReversed());
          expect(up.slice(present.length), field).toEqual(down.slice(present.length));
        }
      });

      it("includes both edges of the window", async () => {
        const org = newOrganization();
        await insert([0, 1, 2, 3].map((i) => spanRow(org, { timestamp: timeAt(i) })));
        const window = { fromNs: nsAt(1), toNs: nsAt(2) };
        const { count, rows } = await store.listSpans(listOf(org, { window }));
        expect([count, rows.map((row) => row.timestamp)]).toEqual([2, [timeAt(2), timeAt(1)]]);
        expect(
          (await store.listSpans(listOf(org, { window: { fromNs: nsAt(1) + 1n, toNs: nsAt(2) - 1n } }))).count,
        ).toBe(0);
      });

      it("reads the asked columns and those of the key, no others", async () => {
        const org = newOrganization();
        await insert([spanRow(org, { model: "m", input: "long" })]);
        const { rows } = await store.listSpans(listOf(org, { fields: ["model"] }));
        expect(Object.keys(rows[0] ?? {}).toSorted()).toEqual([
          "environment",
          "model",
          "timestamp",
          "unique_id",
          "version",
        ]);
      });

      it("takes any text in a filter as a value", async () => {
        const org = newOrganization();
        const hostile = ["'", "\\", "\\'", "' OR 1=1 --", "{x:String}", "é😀\n\t\0", "%", "[]", "['a']"];
        await insert(hostile.map((customer_identifier) => spanRow(org, { customer_identifier })));
        for (const value of hostile) {
          const filter = { sql: "customer_identifier = {f0:String}", params: { f0: value } };
          const { count, rows } = await store.listSpans(listOf(org, { filter, fields: ["customer_identifier"] }));
          expect([count, rows.map((row) => row.customer_identifier)]).toEqual([1, [value]]);
        }
        const some = {
          sql: "customer_identifier IN {f0:Array(String)} AND 2.5 IN {f1:Array(Float64)}",
          params: { f0: hostile, f1: "[2.5,1]" },
        };
        expect((await store.listSpans(listOf(org, { filter: some }))).count).toBe(hostile.length);
      });
    });

    describe("sums and groups", () => {
      it("sums what is there and counts what is not", async () => {
        const org = newOrganization();
        await insert([
          spanRow(org, {
            log_type: "chat",
            cost: 0.1,
            latency: 1,
            prompt_tokens: 10,
            completion_tokens: 5,
            total_tokens: 15,
            cache_hit: true,
          }),
          spanRow(org, {
            log_type: "chat",
            cost: 0.2,
            latency: 3,
            time_to_first_token: 0.5,
            tokens_per_second: 40,
            total_tokens: 5,
            cache_hit: false,
          }),
          spanRow(org, { log_type: "chat", status_code: 500 }),
          spanRow(org, { log_type: "tool", status: "failed", status_code: 200 }),
        ]);
        expect(await store.summarizeSpans(everythingOf(org))).toEqual({
          number_of_requests: 4,
          total_cost: 0.3,
          total_tokens: 20,
          total_prompt_tokens: 10,
          total_completion_tokens: 5,
          avg_latency: 2,
          avg_tps: 40,
          avg_ttft: 0.5,
          error_count: 2,
          unpriced_count: 1,
          cache_hit_count: 1,
        });
        const nothing = await store.summarizeSpans(everythingOf(newOrganization()));
        expect(new Set(Object.values(nothing))).toEqual(new Set([0]));
      });

      it("groups, with every figure of a row", async () => {
        const org = newOrganization();
        await insert([
          spanRow(org, {
            model: "a",
            log_type: "chat",
            cost: 0.1,
            total_tokens: 10,
            latency: 1,
            cache_hit: true,
            timestamp: timeAt(0),
          }),
          spanRow(org, { model: "a", log_type: "chat", status_code: 500, timestamp: timeAt(5) }),
          spanRow(org, { model: "b", log_type: "chat", cost: 0.5, total_tokens: 30 }),
          spanRow(org),
        ]);
        const query = { ...everythingOf(org), groupBy: "model", ...firstPage, sort: mostFirst } as const;
        const { count, rows } = await store.groupSpans(query);
        expect(count).toBe(3);
        expect(rows.map((row) => row.key["model"])).toEqual(["a", "", "b"]);
        expect(rows[0]).toEqual({
          key: { model: "a" },
          number_of_requests: 2,
          span_count: 2,
          total_cost: 0.1,
          total_tokens: 10,
          total_prompt_tokens: 0,
          total_completion_tokens: 0,
          error_count: 1,
          error_percentage: 50,
          average_cost: 0.1,
          average_tokens: 10,
          average_latency: 1,
          average_ttft: 0,
          average_tps: 0,
          cache_hit_percentage: 50,
          unpriced_count: 1,
          first_timestamp: timeAt(0),
          last_timestamp: timeAt(5),
        });
        const page = await store.groupSpans({
          ...query,
          page: 2,
          pageSize: 2,
          sort: { field: "total_cost", descending: false },
        });
        expect([page.count, page.rows.map((row) => row.key["model"])]).toEqual([3, ["b"]]);
        expect(await store.groupSpans({ ...query, page: 9 })).toEqual({ count: 3, rows: [] });
      });

      it("groups by every grouping and sorts by every figure", async () => {
        const org = newOrganization();
        await insert([
          spanRow(org, { ...groupedValues("x"), status_code: 200, cost: 1 }),
          spanRow(org, { ...groupedValues("x"), status_code: 200, cost: 1, environment: "test" }),
          spanRow(org, { ...groupedValues("y"), status_code: 404, cost: 5 }),
        ]);
        for (const groupBy of spanGroupings) {
          const { count, rows } = await store.groupSpans({
            ...everythingOf(org),
            groupBy,
            ...firstPage,
            sort: mostFirst,
          });
          const isPerEnvironment = groupBy === "trace" || groupBy === "thread";
          expect([count, rows.length], groupBy).toEqual(isPerEnvironment ? [3, 3] : [2, 2]);
        }
        for (const field of spanGroupSortFields) {
          const sorted = async (isDescending: boolean) => {
            const sort = { field, descending: isDescending };
            const { rows } = await store.groupSpans({ ...everythingOf(org), groupBy: "model", ...firstPage, sort });
            return rows.map((row) => row[field]);
          };
          const up = await sorted(false);
          expect(up, field).toEqual(up.toSorted(compareValues));
          expect(await sorted(true), field).toEqual(up.toReversed());
        }
      });
    });

    describe("what goes wrong", () => {
      it("tells a batch that can never go in, and stores nothing of it", async () => {
        const org = newOrganization();
        const good = JSON.stringify(spanRow(org));
        for (const bad of [
          '{"organization_id":',
          '{"timestamp":"yesterday"}',
          '{"unique_id":"42"}',
          '{"cost":{"a":1}}',
        ]) {
          const failing = store.insert({ ndjson: Buffer.from(`${good}\n${bad}\n`), rows: 2, token: randomUUID() });
          await expect(failing, bad).rejects.toSatisfy(isPoisonBatch);
        }
        expect((await store.listSpans(listOf(org))).count).toBe(0);
        await insert([spanRow(org)]);
        expect((await store.listSpans(listOf(org))).count).toBe(1);
      });

      it("refuses a query that takes more than it may, and goes on", async () => {
        const org = newOrganization();
        await insert(
          Array.from({ length: 200 }, (_, i) =>
            spanRow(org, { customer_identifier: `user ${i}`, input: "x".repeat(5000) }),
          ),
        );
        const slow = { sql: "sleepEachRow(0.02) = 0", params: {} };
        const hungry = { sql: "arraySum(arrayMap(x -> cityHash64(input, x), range(100000))) != 0", params: {} };
        const [hasty, lean] = [open({ timeMs: 100 }), open({ memoryBytes: 4 * 1024 * 1024 })];
        try {
          const tooLarge = { code: "query_too_large", name: "ServiceError" };
          await expect(hasty.summarizeSpans({ ...everythingOf(org), filter: slow })).rejects.toMatchObject(tooLarge);
          await expect(hasty.listSpans(listOf(org, { filter: slow }))).rejects.toMatchObject(tooLarge);
          await expect(lean.summarizeSpans({ ...everythingOf(org), filter: hungry })).rejects.toMatchObject(tooLarge);
          expect((await hasty.listSpans(listOf(org))).count).toBe(200);
          expect((await store.listSpans(listOf(org))).count).toBe(200);
        } finally {
          await Promise.all([hasty.close(), lean.close()]);
        }
      });

      it("ends a query when its caller goes away", async () => {
        const org = newOrganization();
        await insert([spanRow(org)]);
        const leaving = new AbortController();
        const slow = { sql: "(SELECT count() FROM numbers(20000000000) WHERE cityHash64(number) = 1) = 0", params: {} };
        const running = store.summarizeSpans({ ...everythingOf(org), filter: slow }, leaving.signal);
        setTimeout(() => leaving.abort(new Error("gone")), 100);
        const started = performance.now();
        await expect(running).rejects.toThrow("gone");
        expect(performance.now() - started).toBeLessThan(10_000);
        await expect(store.listSpans(listOf(org), AbortSignal.abort(new Error("never came")))).rejects.toThrow(
          "never came",
        );
      });

      it("never shows rows of a query that failed half way in a later one", async () => {
        const [loud, quiet] = [newOrganization(), newOrganization()];
        await insert(
          Array.from({ length: 3000 }, (_, i) => spanRow(loud, { model: "secret", timestamp: timeAt(i % 50) })),
        );
        await insert([spanRow(quiet, { model: "own" })]);
        const failing = { sql: "throwIf(rand() % 1000 = 0) = 0", params: {} };
        for (let round = 0; round < 10; round += 1) {
          const list = listOf(loud, { filter: failing, fields: ["model"], pageSize: 1000, sort: descending("cost") });
          await store.listSpans(list).catch(() => undefined);
          const { count, rows } = await store.listSpans(listOf(quiet, { fields: ["model"] }));
          expect([count, rows.map((row) => row.model)]).toEqual([1, ["own"]]);
        }
      });

      it("refuses queries beyond those that may wait", async () => {
        const org = newOrganization();
        await insert([spanRow(org)]);
        const narrow = open({ inFlight: 1, queued: 1 });
        try {
          const slow = { ...everythingOf(org), filter: { sql: "sleepEachRow(0.3) = 0", params: {} } };
          const results = await Promise.allSettled([1, 2, 3].map(() => narrow.summarizeSpans(slow)));
          expect(results.map((result) => result.status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
          expect(results[2]).toMatchObject({ reason: { code: "unavailable", retryAfterS: 1 } });
        } finally {
          await narrow.close();
        }
      });
    });

    describe("upkeep", () => {
      it("is brought up to date by two nodes at once, and again", async () => {
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

      it("deletes what ended before the cutoff, and nothing else", async () => {
        const org = newOrganization();
        await insert([0, 1, 2].map((i) => spanRow(org, { timestamp: timeAt(i) })));
        await store.deleteOlderThan(org, nsAt(1));
        expect((await store.listSpans(listOf(org))).rows.map((row) => row.timestamp)).toEqual([timeAt(2), timeAt(1)]);
        await store.deleteOlderThan(newOrganization(), nsAt(1));
      });

      it("answers a ping", async () => {
        await expect(store.ping()).resolves.toBeUndefined();
      });
    });
  });
}

type TestRow = { organization_id: string; environment: string; timestamp: string; unique_id: string; version: string };

const newOrganization = () => `org_${randomUUID()}`;
const always = { fromNs: -(2n ** 63n), toNs: 2n ** 63n - 1n };
const firstPage = { page: 1, pageSize: 50 };
const mostFirst = { field: "number_of_requests", descending: true } as const;
const ascending = (field: SpanSortField): SpanSort => ({ field, descending: false });
const descending = (field: SpanSortField): SpanSort => ({ field, descending: true });
const timeAt = (second: number) => `2026-05-05 05:05:${String(second).padStart(2, "0")}.000000000`;
const nsAt = (second: number) => parseTimeNs(timeAt(second)) ?? 0n;
const everythingOf = (organization_id: string) => ({ scope: { organization_id }, window: always });

function listOf(organization_id: string, query: Partial<ListSpansQuery> = {}): ListSpansQuery {
  return { ...everythingOf(organization_id), ...firstPage, sort: descending("timestamp"), fields: [], ...query };
}

function spanRow<T extends object>(organization_id: string, members?: T): TestRow & T {
  const row = { organization_id, environment: "prod", timestamp: timeAt(0), unique_id: randomUUID(), version: "1" };
  return { ...row, ...members } as TestRow & T;
}

function keyOf({ organization_id, environment, timestamp, unique_id }: TestRow) {
  return { organization_id, environment, timestamp, unique_id };
}

function measuresOf(value: number) {
  const names = ["cost", "latency", "time_to_first_token", "tokens_per_second", "prompt_tokens", "completion_tokens"];
  const numbers = [...names, "total_tokens", "status_code"].map((name) => [name, value]);
  return { ...Object.fromEntries(numbers), model: `model ${value}`, customer_identifier: `user ${value}` };
}

const sortedColumns: Partial<Record<SpanSortField, SpanColumn>> = {
  id: "unique_id",
  all_tokens: "total_tokens",
  total_request_tokens: "total_tokens",
};

function groupedValues(value: string) {
  const columns = spanGroupings.filter((name) => !["trace", "thread", "environment", "status_code"].includes(name));
  return {
    ...Object.fromEntries(columns.map((column) => [column, value])),
    trace_unique_id: value,
    thread_identifier: value,
  };
}

function compareValues(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

const awkward = "é😀 \u0000 ' \" \\ \n\t\u2028 \\N {x:String} 日本";

/** A value in every column, at the edges of its kind. */
function fullRow(organization_id: string): TestRow & Record<string, unknown> {
  const members = Object.entries(spanColumns).map(([column, kind]) => [column, edgeValues[kind](column)] as const);
  const row = spanRow(organization_id, Object.fromEntries(members));
  return {
    ...row,
    organization_id,
    environment: "prod",
    unique_id: randomUUID(),
    version: "18446744073709551615",
    is_deleted: 0,
  };
}

const edgeValues: Record<(typeof spanColumns)[SpanColumn], (column: string) => unknown> = {
  text: (column) => `${column} ${awkward}`,
  json: (column) => ({ z: column, a: [1, null, { deep: awkward }], empty: {} }),
  uuid: () => randomUUID(),
  time: () => "2026-05-05 05:05:05.123456789",
  integer: () => "9007199254740993",
  number: () => 0.1 + 0.2,
  boolean: () => false,
  map: () => ({ "a.b": awkward, "": "empty key", "it's": "" }),
};

/** Integers beyond a double are written as digits, as ingest does. */
function ndjsonLine(row: object): string {
  return `${JSON.stringify(row).replaceAll('"9007199254740993"', "9007199254740993")}\n`;
}

function expectedFullRow(sent: Record<string, unknown>): StoredSpan {
  const members = Object.entries(spanColumns).map(([column, kind]) => {
    const value = sent[column];
    return [column, kind === "json" ? JSON.stringify(value) : value];
  });
  return Object.fromEntries(members) as StoredSpan;
}
