import { describe, expect, it } from "vitest";
import type { SpanColumn } from "../../../domain/span.ts";
import type { SpanSort } from "../span-list.ts";
import { spanSortFields } from "../span-list.ts";
import { spanGroupings, spanGroupSortFields, type SpanCondition } from "../span-store.ts";
import type { ContractDriver } from "./span-fixtures.ts";
import {
  ascending,
  compareValues,
  descending,
  everythingOf,
  firstPage,
  groupedValues,
  listOf,
  measuresOf,
  mostFirst,
  percentilesOf,
  newOrganization,
  nsAt,
  sortedColumns,
  spanRow,
  timeAt,
} from "./span-fixtures.ts";

export function describeReads({ store, insert, once }: ContractDriver): void {
  it("M14: lists models whose spans have no price, by model and provider", async () => {
    const org = newOrganization();
    const call = (model: string, provider_id: string, row: object) =>
      spanRow(org, { cost: null, model, provider_id, ...row });
    await insert([
      call("lab-1", "a", { total_tokens: 5 }),
      call("lab-1", "a", { total_tokens: 6, timestamp: timeAt(9) }),
      call("lab-1", "b", { total_tokens: null, unpriced: "page" }),
      call("lab-2", "a", { total_tokens: 5, cost: 0.5 }),
      call("lab-3", "a", { total_tokens: null }),
      spanRow(newOrganization(), { cost: null, model: "lab-4", total_tokens: 5 }),
    ]);
    expect(await store().listUnpriced(everythingOf(org))).toEqual([
      { model: "lab-1", provider_id: "a", spans: 2, last_timestamp: timeAt(9) },
      { model: "lab-1", provider_id: "b", spans: 1, last_timestamp: expect.any(String) },
    ]);
  });

  describe("lists", () => {
    it("pages through 53 spans of one instant without gaps or repeats", async () => {
      const org = newOrganization();
      const rows = Array.from({ length: 53 }, () => spanRow(org));
      await insert(rows);
      for (const sort of [descending("timestamp"), ascending("timestamp"), descending("cost"), ascending("model")]) {
        const seen: string[] = [];
        for (let page = 1; page <= 6; page += 1) {
          const result = await store().listSpans(listOf(org, { sort, page, pageSize: 10 }));
          expect(result.count).toBe(53);
          seen.push(...result.rows.map((row) => row.unique_id));
        }
        expect([seen.length, new Set(seen).size], sort.field).toEqual([53, 53]);
      }
      expect(await store().listSpans(listOf(org, { page: 7, pageSize: 10 }))).toEqual({ count: 53, rows: [] });
    });

    once("sorts by every field in both directions, absent values last", async () => {
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
      // There is no column error_count.
      for (const field of spanSortFields.filter((name) => name !== "error_count")) {
        const column = sortedColumns[field] ?? (field as SpanColumn);
        const valuesBy = async (sort: SpanSort) => {
          const { count, rows } = await store().listSpans(listOf(org, { sort, fields: [column] }));
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

    once("continues after the last row of a page, in every order and direction", async () => {
      const org = newOrganization();
      // Doubles whose text may be read back as a neighbour, ties, absent values, and texts that could break a
      // statement.
      const values = [0.1 + 0.2, 1e-7, 1 / 3, 3, 3, undefined, undefined, 2 ** 53 - 1];
      await insert(
        values.map((value, i) =>
          spanRow(org, {
            timestamp: timeAt(i % 3),
            environment: i % 2 === 0 ? "prod" : "test",
            ...(value === undefined ? {} : { ...measuresOf(Math.floor(value)), cost: value, latency: value }),
            ...(value === 3 && { model: "it's {x:String} \\ '" }),
          }),
        ),
      );
      const fields = ["timestamp", "id", "start_time", "cost", "prompt_tokens", "error_count", "model"] as const;
      const sorts = fields.flatMap((field) => [ascending(field), descending(field)]);
      for (const sort of [...sorts, { ...descending("timestamp"), score: "judge" }]) {
        const whole = await store().listSpans(listOf(org, { sort }));
        const first = await store().listSpans(listOf(org, { sort, pageSize: 3 }));
        const second = await store().listSpans(listOf(org, { sort, pageSize: 4, after: first.next }));
        const third = await store().listSpans(listOf(org, { sort, pageSize: 4, after: second.next }));
        const pages = [first, second, third].flatMap(({ rows }) => rows.map((row) => row.unique_id));
        expect(pages, JSON.stringify(sort)).toEqual(whole.rows.map((row) => row.unique_id));
        expect([second.count, third.count, third.next, whole.next]).toEqual([8, 8, undefined, undefined]);
      }
    });

    once("includes both edges of the window", async () => {
      const org = newOrganization();
      await insert([0, 1, 2, 3].map((i) => spanRow(org, { timestamp: timeAt(i) })));
      const window = { fromNs: nsAt(1), toNs: nsAt(2) };
      const { count, rows } = await store().listSpans(listOf(org, { window }));
      expect([count, rows.map((row) => row.timestamp)]).toEqual([2, [timeAt(2), timeAt(1)]]);
      expect(
        (await store().listSpans(listOf(org, { window: { fromNs: nsAt(1) + 1n, toNs: nsAt(2) - 1n } }))).count,
      ).toBe(0);
    });

    once("reads only the requested columns and those of the key", async () => {
      const org = newOrganization();
      await insert([spanRow(org, { model: "m", input: "long" })]);
      const { rows } = await store().listSpans(listOf(org, { fields: ["model"] }));
      expect(Object.keys(rows[0] ?? {}).toSorted()).toEqual([
        "environment",
        "model",
        "timestamp",
        "unique_id",
        "version",
      ]);
    });
  });

  describe("sums and groups", () => {
    it("sums present values and counts missing ones", async () => {
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
      expect(await store().summarizeSpans(everythingOf(org))).toEqual({
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
        number_of_customers: 0,
        ...percentilesOf("latency", [2, 2.8, 2.9, 2.98]),
        ...percentilesOf("time_to_first_token", [0.5, 0.5, 0.5, 0.5]),
        ...percentilesOf("tokens_per_second", [40, 40, 40, 40]),
      });
      const nothing = await store().summarizeSpans(everythingOf(newOrganization()));
      const { number_of_requests, total_cost, number_of_customers, p50_latency } = nothing;
      expect({ number_of_requests, total_cost, number_of_customers, p50_latency }).toEqual({
        number_of_requests: 0,
        total_cost: 0,
        number_of_customers: 0,
        p50_latency: null,
      });
      expect(new Set(Object.values(nothing))).toEqual(new Set([0, null]));
    });

    it("groups with every figure", async () => {
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
      const query = { ...everythingOf(org), groupBy: ["model"], ...firstPage, sort: mostFirst } as const;
      const { count, rows } = await store().groupSpans(query);
      expect(count).toBe(3);
      expect(rows.map((row) => row.key["model"])).toEqual(["a", "", "b"]);
      expect(rows[0]).toEqual({
        key: { model: "a" },
        text: "a",
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
        ...percentilesOf("latency", [1, 1, 1, 1]),
        ...percentilesOf("time_to_first_token", [null, null, null, null]),
        ...percentilesOf("tokens_per_second", [null, null, null, null]),
        first_timestamp: timeAt(0),
        last_timestamp: timeAt(5),
      });
      const page = await store().groupSpans({
        ...query,
        page: 2,
        pageSize: 2,
        sort: { field: "total_cost", descending: false },
      });
      expect([page.count, page.rows.map((row) => row.key["model"])]).toEqual([3, ["b"]]);
      expect(await store().groupSpans({ ...query, page: 9 })).toEqual({ count: 3, rows: [] });
    });

    once("groups by every grouping and sorts by every figure", async () => {
      const org = newOrganization();
      await insert([
        spanRow(org, { ...groupedValues("x"), status_code: 200, cost: 1 }),
        spanRow(org, { ...groupedValues("x"), status_code: 200, cost: 1, environment: "test" }),
        spanRow(org, { ...groupedValues("y"), status_code: 404, cost: 5 }),
      ]);
      for (const groupBy of spanGroupings) {
        const { count, rows } = await store().groupSpans({
          ...everythingOf(org),
          groupBy: [groupBy],
          ...firstPage,
          sort: mostFirst,
        });
        const isPerEnvironment = groupBy === "trace" || groupBy === "thread";
        expect([count, rows.length], groupBy).toEqual(isPerEnvironment ? [3, 3] : [2, 2]);
      }
      for (const field of spanGroupSortFields) {
        const sorted = async (isDescending: boolean) => {
          const sort = { field, descending: isDescending };
          const { rows } = await store().groupSpans({ ...everythingOf(org), groupBy: ["model"], ...firstPage, sort });
          return rows.map((row) => row[field]);
        };
        const up = await sorted(false);
        expect(up, field).toEqual(up.toSorted(compareValues));
        expect(await sorted(true), field).toEqual(up.toReversed());
      }
    });

    it("lists the values of fields and the keys of metadata, the most frequent first", async () => {
      const org = newOrganization();
      await insert([
        spanRow(org, { ...groupedValues("x"), metadata_index: { a: "1", b: "2" } }),
        spanRow(org, { ...groupedValues("x"), metadata_index: { a: "1" } }),
        spanRow(org, groupedValues("y")),
        spanRow(org),
      ]);
      await insert([spanRow(newOrganization(), groupedValues("z"))]);
      const query = { ...everythingOf(org), fields: ["model", "metadata__a", "span_name"], limit: 1 } as const;
      expect(await store().facetSpans(query)).toEqual({
        values: expect.toSatisfy((values: unknown[]) => values.length === 3),
        metadataKeys: [{ key: "a", count: 2 }],
      });
      const found = await store().facetSpans({ ...query, fields: ["model"], limit: 10, search: "Y" });
      expect(found.values).toEqual([{ field: "model", value: "y", count: 1 }]);
    });

    it("lists the newest spans received after a position, in order, and counts them by second", async () => {
      const org = newOrganization();
      const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
      const row = (n: number, received: number, more: object = {}) =>
        spanRow(org, { unique_id: id(n), timestamp: timeAt(9 - n), received_at: timeAt(received), ...more });
      await insert([row(1, 3), row(2, 1), row(4, 2), row(3, 2), row(5, 4, { model: "other" })]);
      await insert([spanRow(newOrganization(), { received_at: timeAt(3) })]);
      const idsOf = async (
        after: { received_at: string; unique_id: string },
        limit: number,
        filter?: SpanCondition,
      ) => {
        const { keys, count } = await store().listReceived({ ...everythingOf(org), after, limit, filter });
        return [count, ...keys.map(({ unique_id }) => unique_id)];
      };
      const start = { received_at: timeAt(0), unique_id: id(0) };
      expect(await idsOf(start, 9)).toEqual([5, id(2), id(3), id(4), id(1), id(5)]);
      expect(await idsOf({ received_at: timeAt(2), unique_id: id(3) }, 9)).toEqual([3, id(4), id(1), id(5)]);
      expect(await idsOf(start, 2)).toEqual([5, id(1), id(5)]);
      const filter = { sql: "model = {m:String}", params: { m: "other" }, columns: new Set(["model"]) };
      expect(await idsOf(start, 9, filter)).toEqual([1, id(5)]);
      const counted = await store().countReceived({
        ...everythingOf(org),
        after: start,
        until: { received_at: timeAt(3), unique_id: id(1) },
      });
      const second = Date.parse("2026-05-05T05:05:00Z") / 1000;
      expect([...counted].sort(([a], [b]) => a - b)).toEqual([
        [second + 1, 1],
        [second + 2, 2],
        [second + 3, 1],
      ]);
    });
  });
}

/** How the values of conditions reach the engine. */
export function describeFilterValues({ store, insert }: ContractDriver): void {
  describe("filters", () => {
    it("accepts a filter with a thousand long values", async () => {
      const org = newOrganization();
      const values = Array.from({ length: 1000 }, (_, i) => `${i} ${"x".repeat(2000)}`);
      await insert([spanRow(org, { customer_identifier: values[999] }), spanRow(org)]);
      const filter = { sql: "customer_identifier IN {f0:Array(String)}", params: { f0: values } };
      expect((await store().listSpans(listOf(org, { filter }))).count).toBe(1);
    });

    it("accepts any text as a value of a filter", async () => {
      const org = newOrganization();
      const hostile = ["'", "\\", "\\'", "' OR 1=1 --", "{x:String}", "é😀\n\t\0", "%", "[]", "['a']"];
      await insert(hostile.map((customer_identifier) => spanRow(org, { customer_identifier })));
      for (const value of hostile) {
        const filter = { sql: "customer_identifier = {f0:String}", params: { f0: value } };
        const { count, rows } = await store().listSpans(listOf(org, { filter, fields: ["customer_identifier"] }));
        expect([count, rows.map((row) => row.customer_identifier)]).toEqual([1, [value]]);
      }
      const some = {
        sql: "customer_identifier IN {f0:Array(String)} AND 2.5 IN {f1:Array(Float64)}",
        params: { f0: hostile, f1: "[2.5,1]" },
      };
      expect((await store().listSpans(listOf(org, { filter: some }))).count).toBe(hostile.length);
    });
  });
}
