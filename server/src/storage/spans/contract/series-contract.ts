import { expect, it } from "vitest";
import { spanMetrics } from "../span-series.ts";
import { spanGroupings, type SpanCondition } from "../span-store.ts";
import { everythingOf, groupedValues, newOrganization, spanRow, timeAt, type ContractDriver } from "./span-fixtures.ts";

/** Spans by time bucket and by group. */
export function describeSeries({ store, insert, variations }: ContractDriver): void {
  it("returns time series for every grouping and metric, and one of all other groups", async () => {
    const org = newOrganization();
    await insert([
      spanRow(org, { ...groupedValues("x"), cost: 1, latency: 1, timestamp: timeAt(0) }),
      spanRow(org, { ...groupedValues("x"), cost: 2, latency: 3, timestamp: timeAt(30) }),
      spanRow(org, { ...groupedValues("y"), cost: 5, latency: 9, timestamp: timeAt(59), metadata_index: { a: "b" } }),
    ]);
    await insert([spanRow(newOrganization(), { cost: 9 })]);
    const first = Date.parse("2026-05-05T05:05:00Z") / 1000;
    const query = { ...everythingOf(org), starts: [first, first + 30], groupBy: [], top: 1, scores: [] } as const;
    const all = await store().spanSeries({ ...query, metrics: spanMetrics, rankBy: "number_of_requests" });
    expect(all.series).toHaveLength(1);
    expect(all.series[0]?.points.get(0)).toMatchObject({ number_of_requests: 1, total_cost: 1, p99_latency: 1 });
    expect(all.series[0]?.points.get(1)).toMatchObject({ number_of_requests: 2, total_cost: 7, p50_latency: 6 });
    expect(Object.keys(all.series[0]?.totals ?? {})).toEqual([...spanMetrics]);
    for (const groupBy of variations([...spanGroupings, "metadata__a"])) {
      const grouped = {
        ...query,
        groupBy: [groupBy, "model"],
        metrics: ["total_cost"],
        rankBy: "total_cost",
      } as const;
      const { series, other } = await store().spanSeries(grouped);
      expect([series[0]?.group["model"], series[0]?.totals, other?.totals], groupBy).toEqual([
        "y",
        { total_cost: 5 },
        { total_cost: 3 },
      ]);
      expect(other?.points, groupBy).toEqual(
        new Map([
          [0, { total_cost: 1 }],
          [1, { total_cost: 2 }],
        ]),
      );
    }
  });

  it("reads all groups, also of several filters, in one statement with the same result as each alone", async () => {
    const org = newOrganization();
    await insert([
      spanRow(org, { ...groupedValues("x"), cost: 1, latency: 1, timestamp: timeAt(0) }),
      spanRow(org, { ...groupedValues("x"), cost: 2, latency: 3, timestamp: timeAt(30) }),
      spanRow(org, { ...groupedValues("y"), cost: 5, latency: 9, timestamp: timeAt(59), metadata_index: { a: "b" } }),
    ]);
    await insert([spanRow(newOrganization(), { cost: 9 })]);
    const first = Date.parse("2026-05-05T05:05:00Z") / 1000;
    const metrics = ["number_of_requests", "total_cost", "p50_latency"] as const;
    const query = { ...everythingOf(org), metrics, rankBy: metrics[0], scores: [] };
    const condition = (name: string, value: string): SpanCondition => ({
      sql: `ifNull(cost, 0) != {${name}:Float64}`,
      params: { [name]: value },
      columns: new Set(["cost"]),
    });
    const filters = [condition("a", "1"), undefined, condition("b", "5"), { ...condition("c", "5"), sql: "0" }];
    for (const groupBy of variations([["model"], [], ["customer_identifier", "metadata__a"], ["trace"]])) {
      for (const starts of variations([[first, first + 30], [first]])) {
        const one = { ...query, groupBy, starts, top: 1 };
        expect(await store().spanSeries({ ...one, isInBackground: true })).toEqual(await store().spanSeries(one));
        const all = { ...one, top: 9 };
        expect(await store().spanSeries({ ...all, isInBackground: true })).toEqual(await store().spanSeries(all));
        const each = await Promise.all(filters.map((filter) => store().spanSeries({ ...all, filter })));
        expect(await store().splitSeries({ ...all, filters })).toEqual(each.map(({ series }) => series));
      }
    }
    const many = { ...query, groupBy: ["model"], starts: [first], top: 3, filters };
    expect(await store().splitSeries(many)).toBeUndefined();
  });
}
