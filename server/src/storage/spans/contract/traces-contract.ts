import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { environments } from "../../../domain/principal.ts";
import { countedColumns, type CountedColumn, type ReadColumn, type SpanScope } from "../../../domain/span.ts";
import { storageLimits } from "../../limits.ts";
import { rawReader, type RawSpan } from "../raw-span.ts";
import type { StoredSpan } from "../span-store.ts";
import type { StoredTrace } from "../trace-queries.ts";
import type { ContractDriver } from "./span-fixtures.ts";
import { everythingOf, firstPage, listOf, mostFirst, newOrganization, nsAt, spanRow, timeAt } from "./span-fixtures.ts";

const newest = { field: "timestamp", descending: true } as const;

export function describeTraces({ store, insert, once }: ContractDriver): void {
  const span = (org: string, trace: string, id: string, parent: string, second: number, members: object = {}) =>
    spanRow(org, {
      trace_unique_id: trace,
      span_unique_id: id,
      span_parent_id: parent,
      span_name: `span ${id}`,
      start_time: timeAt(second),
      timestamp: timeAt(second + 1),
      ...members,
    });
  const usage = (tokens: number) => ({
    log_type: "chat",
    total_tokens: tokens,
    prompt_tokens: tokens,
    cost: tokens / 100,
  });

  async function insertTraces(): Promise<string> {
    const org = newOrganization();
    await insert([
      span(org, "wrapped", "agent", "", 0, { ...usage(30), thread_identifier: "th", customer_identifier: "it's" }),
      span(org, "wrapped", "task", "agent", 1),
      span(org, "wrapped", "call", "task", 2, usage(30)),
      span(org, "plain", "call", "gone", 10, { ...usage(5), model: "m", status: "failed" }),
    ]);
    return org;
  }

  /** A trace read in chunks, by pages and, as a small one, in one statement: what its spans count for is the same. */
  async function readsAgree(scope: SpanScope, traceId: string): Promise<void> {
    const [place] = await store().placeTraces(scope, traceId);
    if (place === undefined) return;
    const columns: ReadColumn[] = ["unique_id", ...(Object.keys(countedColumns) as CountedColumn[])];
    const query = { scope, traceId, range: place.range, columns, limit: 100 };
    const parse = rawReader(columns);
    const values = (rows: readonly RawSpan[]) =>
      rows
        .map(parse)
        .map((span) => ({ ...span, counted_tokens: span.counted_tokens && Number(span.counted_tokens) }))
        .toSorted((a, b) => a.unique_id.localeCompare(b.unique_id));
    const chunks: RawSpan[] = [];
    await store().readTraceSpans(query, (row) => chunks.push(row));
    expect(values(chunks)).toEqual(values(await store().listTraceSpans(query)));
    expect(values(chunks)).toEqual(values((await store().readSmallTrace(query)) ?? []));
  }

  describe("traces", () => {
    it("have time series, by the end of each trace", async () => {
      const org = await insertTraces();
      const first = Date.parse("2026-05-05T05:05:00Z") / 1000;
      const { series, other } = await store().traceSeries({
        ...everythingOf(org),
        starts: [first, first + 10],
        groupBy: ["customer_identifier"],
        metrics: ["number_of_traces", "span_count", "total_cost", "error_count"],
        top: 1,
        rankBy: "total_cost",
      });
      const wrapped = { number_of_traces: 1, span_count: 3, total_cost: 0.3, error_count: 0 };
      expect(series).toEqual([
        { group: { customer_identifier: "it's" }, points: new Map([[0, wrapped]]), totals: wrapped },
      ]);
      const plain = { number_of_traces: 1, span_count: 1, total_cost: 0.05, error_count: 1 };
      expect(other).toEqual({ points: new Map([[1, plain]]), totals: plain });
    });

    it("are listed with figures that count restated usage once", async () => {
      const org = await insertTraces();
      const { count, rows } = await store().listTraces({ ...everythingOf(org), ...firstPage, sort: newest });
      expect(count).toBe(2);
      expect(rows).toMatchObject([
        { trace_unique_id: "plain", name: "span call", total_tokens: 5, error_count: 1, span_count: 1, model: "m" },
        {
          trace_unique_id: "wrapped",
          environment: "prod",
          name: "span agent",
          root_span_unique_id: "agent",
          customer_identifier: "it's",
          total_tokens: 30,
          total_cost: 0.3,
          span_count: 3,
          llm_call_count: 2,
          duration: 3,
        },
      ]);
    });

    once("have the same figures in a list, which sums few spans here, and alone, summed by the engine", async () => {
      const found = fc.record({
        trace: fc.constantFrom("t1", "t2", "t3"),
        id: fc.constantFrom("a", "b", "c", "d"),
        parent: fc.constantFrom("", "a", "b", "gone"),
        second: fc.nat(3),
        members: fc.record({
          environment: fc.constantFrom("prod", "test"),
          log_type: fc.constantFrom("chat", "tool", "agent"),
          status: fc.constantFrom("success", "failed"),
          model: fc.constantFrom("", "m", 'ü"'),
          customer_identifier: fc.constantFrom("", "it's"),
          thread_identifier: fc.constantFrom("", "th"),
          total_tokens: fc.constantFrom(null, 0, 7),
          cost: fc.constantFrom(null, 0, 0.1, 0.7),
        }),
      });
      const property = fc.asyncProperty(fc.array(found, { minLength: 1, maxLength: 20 }), async (spans) => {
        const org = newOrganization();
        const rows = spans.map(({ trace, id, parent, second, members }) =>
          span(org, trace, id, parent, second, { ...members, prompt_tokens: members.total_tokens }),
        );
        await insert(rows);
        const again = rows
          .slice(0, 2)
          .map((row, index) => ({ ...row, version: "99", is_resend: 1, is_deleted: index, model: "n" }));
        await insert(again);
        const listed = await store().listTraces({ ...everythingOf(org), ...firstPage, sort: newest });
        const ids = new Set(listed.rows.map((row) => row.trace_unique_id));
        const alone = await Promise.all([...ids].map((id) => store().retrieveTraces({ organization_id: org }, id)));
        const byKey = (traces: readonly StoredTrace[]) =>
          new Map(traces.map((trace) => [`${trace.environment} ${trace.trace_unique_id}`, trace]));
        expect(byKey(listed.rows)).toEqual(byKey(alone.flat()));
        for (const id of ids)
          for (const environment of environments) await readsAgree({ organization_id: org, environment }, id);
      });
      await fc.assert(property, { numRuns: 8 });
    });

    it("M10: are listed and matched as a whole, however little of them is in the window", async () => {
      const org = newOrganization();
      const hourAway = { start_time: "2026-05-05 04:05:00.000000000", timestamp: "2026-05-05 06:05:00.000000000" };
      await insert([
        // One crosses both edges by seconds, one by an hour; the last has nothing in the window.
        span(org, "narrow", "root", "", 0, { customer_identifier: "ann" }),
        span(org, "narrow", "call", "root", 10, usage(30)),
        span(org, "narrow", "late", "root", 30, usage(5)),
        span(org, "wide", "root", "", 10),
        span(org, "wide", "call", "root", 0, { ...usage(7), ...hourAway }),
        span(org, "outside", "root", "", 40, usage(1)),
      ]);
      const scope = { organization_id: org };
      for (const window of [
        { fromNs: nsAt(5), toNs: nsAt(20) },
        { fromNs: nsAt(11), toNs: nsAt(11) },
      ]) {
        const sort = { field: "total_tokens", descending: true } as const;
        const { count, rows } = await store().listTraces({ scope, window, ...firstPage, sort });
        expect(count).toBe(2);
        expect(rows).toMatchObject([
          { trace_unique_id: "narrow", span_count: 3, total_tokens: 35, customer_identifier: "ann" },
          { trace_unique_id: "wide", span_count: 2, total_tokens: 7 },
        ]);
        const { keys } = await store().matchTraces({ scope, window, limit: 10 });
        expect(keys.map((key) => key.trace_unique_id).toSorted()).toEqual(["narrow", "wide"]);
      }
    });

    it("are filtered by figures and by values of any of their spans", async () => {
      const org = await insertTraces();
      const condition = {
        matches: [{ sql: "model = {m0_0:String}", params: { m0_0: "m" } }],
        having: { sql: "match_0 AND figure_total_tokens < {h0:Float64}", params: { h0: "6" } },
        figures: ["total_tokens"],
      };
      const query = { ...everythingOf(org), condition };
      expect(await store().listTraces({ ...query, ...firstPage, sort: newest })).toMatchObject({
        count: 1,
        rows: [{ trace_unique_id: "plain" }],
      });
      expect((await store().matchTraces({ ...query, limit: 10 })).keys).toMatchObject([{ trace_unique_id: "plain" }]);
    });

    it("are retrieved with all their spans, in chunks and by pages", async () => {
      const org = await insertTraces();
      const scope = { organization_id: org };
      const [trace, ...others] = await store().retrieveTraces(scope, "wrapped");
      expect(others).toEqual([]);
      expect(trace?.total_tokens).toBe(30);
      expect(await store().retrieveTraces(scope, "nothing")).toEqual([]);
      const [{ range } = { range: { first: "", last: "" } }] = await store().placeTraces(scope, "wrapped");
      const query = { scope, traceId: "wrapped", range, columns: ["span_unique_id", "cost"] as const, limit: 10 };
      const parse = rawReader(query.columns);
      const read: StoredSpan[] = [];
      await store().readTraceSpans(query, (span) => read.push(parse(span)));
      expect(read.map((row) => [row.span_unique_id, row.cost])).toEqual([
        ["agent", 0.3],
        ["task", null],
        ["call", 0.3],
      ]);
      const page = await store().listTraceSpans({ ...query, limit: 1, offset: 1 });
      expect(page.map((span) => parse(span).span_unique_id)).toEqual(["task"]);
      await readsAgree({ ...scope, environment: "prod" }, "wrapped");
    });

    it("are retrieved with all their spans, each once, if these exceed a chunk", async () => {
      const org = newOrganization();
      const scope = { organization_id: org };
      const ids = Array.from({ length: storageLimits.traceSpansChunk + 2 }, (_, n) => `s${n}`);
      await insert(ids.map((id, n) => span(org, "chunks", id, "", n % 50)));
      const [{ range } = { range: { first: "", last: "" } }] = await store().placeTraces(scope, "chunks");
      const query = { scope, traceId: "chunks", range, columns: ["metadata", "span_unique_id"] as const };
      const parse = rawReader(query.columns);
      const read = async (limit: number) => {
        const found: string[] = [];
        await store().readTraceSpans({ ...query, limit }, (row) => found.push(String(parse(row).span_unique_id)));
        return found;
      };
      expect((await read(storageLimits.treeSpans)).sort()).toEqual([...ids].sort());
      expect(await read(storageLimits.traceSpansChunk + 1)).toHaveLength(storageLimits.traceSpansChunk + 1);
      expect(await read(storageLimits.traceSpansChunk)).toHaveLength(storageLimits.traceSpansChunk);
    });

    it("are read in one statement if they are small, each span in its newest version", async () => {
      const org = await insertTraces();
      const query = {
        scope: { organization_id: org },
        traceId: "wrapped",
        columns: ["span_unique_id", "model", "timestamp", "unique_id"] as const,
      };
      const readAll = async () => ((await store().readSmallTrace(query)) ?? []).map(rawReader(query.columns));
      const read = async () => (await readAll()).map((row) => `${row.span_unique_id} ${row.model}`).sort();
      expect(await read()).toEqual(["agent ", "call ", "task "]);
      const rows = await readAll();
      const again = (id: string, members: object) => ({
        ...span(org, "wrapped", id, "agent", 0),
        ...rows.find((row) => row.span_unique_id === id),
        version: "99",
        is_resend: 1,
        ...members,
      });
      await insert([again("call", { model: "newer" }), again("task", { is_deleted: 1 })]);
      expect(await read()).toEqual(["agent ", "call newer"]);
      expect(await store().readSmallTrace({ ...query, traceId: "nothing" })).toEqual([]);
      expect(await store().readSmallTrace({ ...query, traceId: "" })).toEqual([]);
      expect(await store().readSmallTrace({ ...query, scope: { organization_id: newOrganization() } })).toEqual([]);
    });

    it("are weighed by their spans, each once", async () => {
      const org = newOrganization();
      const scope = { organization_id: org };
      const members = { input: "12345", metadata: {} };
      const row = { ...span(org, "heavy", "a", "", 0), ...members };
      await insert([row, { ...span(org, "heavy", "b", "", 1), ...members }]);
      const [place] = await store().placeTraces(scope, "heavy");
      const weigh = () => store().weighTrace({ scope, traceId: "heavy", range: place!.range });
      expect(await weigh()).toEqual({ span_count: 2, payload_bytes: place!.payload_bytes });
      await insert([{ ...row, version: "99", is_resend: 1, input: "123" }]);
      expect(await weigh()).toEqual({ span_count: 2, payload_bytes: place!.payload_bytes - 2 });
    });

    it("are not read in one statement if they have very many spans", async () => {
      const org = newOrganization();
      const query = { scope: { organization_id: org }, traceId: "large", columns: [] };
      await insert(
        Array.from({ length: storageLimits.smallTraceRows }, (_, n) => span(org, "large", `s${n}`, "", n % 50)),
      );
      expect(await store().readSmallTrace(query)).toHaveLength(storageLimits.smallTraceRows);
      await insert([span(org, "large", "one more", "", 0)]);
      expect(await store().readSmallTrace(query)).toBeUndefined();
    });

    it("are deleted within a window, and not in other organizations", async () => {
      const [org, other] = [await insertTraces(), await insertTraces()];
      const window = { fromNs: nsAt(0), toNs: nsAt(2) };
      const counts = await store().countTraceSpans({ scope: { organization_id: org }, traceId: "wrapped", window });
      expect(counts).toEqual([{ environment: "prod", inWindow: 2, total: 3 }]);
      const deletion = {
        organization_id: org,
        environment: "prod",
        trace_unique_id: "wrapped",
        deletedAtMs: 0,
      } as const;
      await store().deleteTraces([{ ...deletion, ...window }]);
      const left = async (organization: string) => (await store().listSpans(listOf(organization))).count;
      expect([await left(org), await left(other)]).toEqual([2, 4]);
    });
  });

  it("threads are listed with the figures of their spans", async () => {
    const org = await insertTraces();
    const sort = { field: "last_timestamp", descending: true } as const;
    const { count, rows } = await store().listThreads({ ...everythingOf(org), ...firstPage, sort });
    const figures = { log_count: 3, trace_count: 1, customer_identifier: "it's" };
    expect(count).toBe(1);
    expect(rows).toMatchObject([{ thread_identifier: "th", environment: "prod", ...figures }]);
    // The span that restates usage does not name the thread, but counts for it.
    const groups = await store().groupSpans({
      ...everythingOf(org),
      ...firstPage,
      groupBy: ["thread"],
      sort: mostFirst,
    });
    expect([rows[0]?.total_tokens, groups.rows[0]?.total_tokens]).toEqual([30, 30]);
  });
}
