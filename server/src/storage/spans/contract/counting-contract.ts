import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { formatUuid, newIdentity } from "../../../domain/identity.ts";
import { storedTime } from "../../../lib/time.ts";
import type { DividedSpan } from "../usage-facts.ts";
import type { ContractDriver } from "./span-fixtures.ts";
import { conditionOf, everythingOf, keyOf, listOf, newOrganization, nsAt, spanRow, timeAt } from "./span-fixtures.ts";

/** The reads of the counter, of recounts and of averages of scores. */
export function describeCounting({ store, insert }: ContractDriver): void {
  const call = { log_type: "chat", cost: 0.5, cost_source: "computed", prompt_tokens: 1, total_tokens: 1 };
  /** A root that names the customer, and calls below it; and a span without a trace. */
  const insertTraces = async (org: string) => {
    const traces = ["a", "b", "c"].flatMap((trace) => [
      spanRow(org, {
        trace_unique_id: trace,
        span_unique_id: "root",
        customer_identifier: "ann",
        timestamp: timeAt(1),
      }),
      spanRow(org, { ...call, trace_unique_id: trace, span_unique_id: "1", span_parent_id: "root" }),
      spanRow(org, { ...call, trace_unique_id: trace, span_unique_id: "2", span_parent_id: "root" }),
    ]);
    const alone = spanRow(org, { ...call, gateway_log_id: randomUUID() });
    await insert([...traces, alone, spanRow(org, call)]);
    return { traces, alone };
  };

  describe("counting", () => {
    it("reads spans by trace, by id and by the call that they name, with their counts", async () => {
      const org = newOrganization();
      const { traces, alone } = await insertTraces(org);
      await insertTraces(newOrganization());
      const idsOf = (rows: ReadonlyArray<{ unique_id: string }>) => rows.map((row) => row.unique_id).toSorted();
      const byTrace = await store().readUsageFacts({ organizationId: org, by: "trace_unique_id", ids: ["a", "b"] });
      expect(idsOf(byTrace.facts)).toEqual(idsOf(traces.slice(0, 6)));
      // The calls count for the customer of their root.
      expect(idsOf(byTrace.counts)).toEqual(idsOf([1, 2, 4, 5].flatMap((index) => traces[index] ?? [])));
      expect(new Set(byTrace.counts.map(({ count }) => count.customer_identifier))).toEqual(new Set(["ann"]));
      const query = { organizationId: org, by: "unique_id", ids: [alone.unique_id] } as const;
      expect(idsOf((await store().readUsageFacts(query)).facts)).toEqual([alone.unique_id]);
      const named = { organizationId: org, by: "gateway_log_id", ids: [alone.gateway_log_id] } as const;
      expect(idsOf((await store().readUsageFacts(named)).facts)).toEqual([alone.unique_id]);
    });

    it("lists the traces that count for a customer, and all traces in parts", async () => {
      const org = newOrganization();
      const { alone } = await insertTraces(org);
      const key = { organization_id: org, environment: "prod", customer_identifier: "ann" } as const;
      const counted = await store().listCountedOf(key, 10);
      expect(counted.map(({ trace_unique_id }) => trace_unique_id).toSorted()).toEqual(["a", "b", "c"]);
      expect(await store().listCountedOf(key, 2)).toHaveLength(2);
      expect(await store().countTraceNames(org)).toBeGreaterThanOrEqual(3);
      const parts = [0, 1, 2].map((part) => store().listTraceNames({ organizationId: org, part, parts: 3 }));
      const names = (await Promise.all(parts)).flat().map((name) => name.trace_unique_id || name.unique_id);
      expect(new Set(names)).toEqual(new Set(["a", "b", "c", alone.unique_id]));
      expect(names).toHaveLength(4);
    });
  });

  it("finds spans of which nodes stored several versions, by end time or by storage time, until one version is left", async () => {
    const org = newOrganization();
    const version = (unique_id: string, second: number, members: object = {}) =>
      spanRow(org, { unique_id, timestamp: timeAt(second), version: String(second), ...members });
    const [alone, ofTrace, moved, once] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    // Without the counter, which would resolve them.
    const storeRows = (rows: readonly object[]) => {
      const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify({ is_resend: 1, ...row })}\n`).join(""));
      return store().insert({ ndjson, rows: rows.length, token: randomUUID(), hasResends: true });
    };
    await storeRows([
      ...[1, 2].map((second) => version(alone, second)),
      ...[1, 2].map((second) => version(ofTrace, second, { trace_unique_id: "a" })),
      version(moved, 1),
      version(moved, 2),
      version(moved, 1, { version: "3", is_deleted: 1 }),
      version(once, 1),
      version(once, 1, { version: "2" }),
    ]);
    // The same ids of another organization are other spans.
    const other = newOrganization();
    await storeRows([spanRow(other, { unique_id: once, timestamp: timeAt(2) })]);
    const expected = [
      { organizationId: org, environment: "prod", trace_unique_id: "", unique_id: alone },
      { organizationId: org, environment: "prod", trace_unique_id: "a", unique_id: "" },
    ];
    const byTrace = (found: readonly DividedSpan[]) =>
      found.toSorted((a, b) => a.trace_unique_id.localeCompare(b.trace_unique_id));
    const between = (organizationId: string, from: number, to: number) =>
      store().listDivided({ organizationId, window: { fromNs: nsAt(from), toNs: nsAt(to) } });
    // In a window are spans without a trace, and of them the versions that ended in it.
    expect(await between(org, 1, 2)).toEqual(expected.slice(0, 1));
    expect(await between(org, 2, 9)).toEqual([]);
    expect(await between(other, 1, 2)).toEqual([]);
    const recent = async () => {
      const found = await store().listDivided({ withinMs: 60_000, limit: 1_000_000 });
      return byTrace(found.filter(({ organizationId }) => organizationId === org || organizationId === other));
    };
    expect(await recent()).toEqual(expected);
    await storeRows([version(alone, 1, { version: "2", is_deleted: 1 })]);
    expect(await recent()).toEqual(expected.slice(1));
    expect(await between(org, 1, 2)).toEqual([]);
  });

  it("finds the new version of a keyed span whose earlier one was stored long ago", async () => {
    const org = newOrganization();
    const [keyed, random] = [newIdentity(), newIdentity()];
    // The version digit of a derived id.
    keyed[6] = 0x80;
    const storeVersions = async (msAgo: number) => {
      const at = storedTime(BigInt(Date.now() - msAgo) * 1_000_000n);
      const rows = [keyed, random].map((id) =>
        spanRow(org, { unique_id: formatUuid(id), timestamp: at, received_at: at, is_resend: 1 }),
      );
      const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
      await store().insert({ ndjson, rows: rows.length, token: randomUUID(), hasResends: true });
    };
    await storeVersions(3_600_000);
    await sleep(1_000);
    const sinceMs = Date.now();
    await storeVersions(0);
    const found = async (endedWithinMs?: number) => {
      // Between the two versions, also if the statement starts late.
      const recent = { withinMs: Date.now() - sinceMs + 500, limit: 1_000_000 };
      const all = await store().listDivided({ ...recent, ...(endedWithinMs !== undefined && { endedWithinMs }) });
      return all.filter(({ organizationId }) => organizationId === org).map(({ unique_id }) => unique_id);
    };
    expect(await found()).toEqual([]);
    expect(await found(7_200_000)).toEqual([formatUuid(keyed)]);
    expect(await found(1_800_000)).toEqual([]);
  });

  it("returns every stored end time of a span, and which spans of its trace were deleted", async () => {
    const org = newOrganization();
    const unique_id = randomUUID();
    const row = (second: number, members: object = {}) =>
      spanRow(org, {
        unique_id,
        timestamp: timeAt(second),
        received_at: timeAt(second),
        trace_unique_id: "a",
        ...members,
      });
    await insert([row(1, { version: "3" }), row(1, { version: "5", received_at: timeAt(9) })]);
    await insert([row(2, { version: "6" }), row(1, { version: "6", received_at: timeAt(2), is_deleted: 1 })]);
    await insert([spanRow(newOrganization(), { unique_id })]);
    const versions = async () => {
      const found = await store().readVersions({ organizationId: org, ids: [unique_id, randomUUID()] });
      return found.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp));
    };
    const moved = { unique_id, timestamp: timeAt(1), version: 6n, isTombstone: true };
    expect(await versions()).toMatchObject([
      moved,
      { unique_id, timestamp: timeAt(2), version: 6n, isTombstone: false, received_at: timeAt(2) },
    ]);
    const facts = () => store().readUsageFacts({ organizationId: org, by: "trace_unique_id", ids: ["a"] });
    expect((await facts()).deleted).toEqual([]);
    const deletion = { organization_id: org, environment: "prod", trace_unique_id: "a", deletedAtMs: 0 } as const;
    await store().deleteTraces([{ ...deletion, fromNs: nsAt(2), toNs: nsAt(2) }]);
    expect(await versions()).toMatchObject([
      moved,
      { timestamp: timeAt(2), version: 2n ** 64n - 1n, isTombstone: true },
    ]);
    const after = await facts();
    expect(after.facts).toEqual([]);
    // A tombstone may exist twice until rows are merged.
    expect(new Set(after.deleted.map((span) => span.unique_id))).toEqual(new Set([unique_id]));
  });

  it("filters by customer and thread use the customer and thread that spans currently count for", async () => {
    const org = newOrganization();
    const root = (customer: string, members: object) =>
      spanRow(org, {
        trace_unique_id: "a",
        span_unique_id: "root",
        customer_identifier: customer,
        timestamp: timeAt(1),
        ...members,
      });
    const below = { trace_unique_id: "a", span_parent_id: "root" };
    const ids = { unique_id: randomUUID() };
    const moved = { ...call, ...below, unique_id: randomUUID(), span_unique_id: "1", model: "m" };
    await insert([
      root("ann", { ...ids, thread_identifier: "t1" }),
      spanRow(org, { ...moved, timestamp: timeAt(3) }),
      spanRow(org, { ...below, span_unique_id: "2", thread_identifier: "t2" }),
      spanRow(org, { ...below, span_unique_id: "3", customer_identifier: "eve" }),
      spanRow(org, { customer_identifier: "ann", model: "m" }),
      spanRow(org, { thread_identifier: "t1" }),
      spanRow(org),
    ]);
    const fields = ["unique_id", "model", "counted_customer_identifier", "counted_thread_identifier"] as const;
    type Shown = { model?: string; customer: string; thread: string };
    const filters: Array<[object, (row: Shown) => boolean]> = [
      [{ customer_identifier: "ann" }, ({ customer }) => customer === "ann"],
      [{ customer_identifier: "bob" }, ({ customer }) => customer === "bob"],
      [
        { customer_identifier: { operator: "in", value: ["bob", "eve"] } },
        ({ customer }) => customer !== "" && customer !== "ann",
      ],
      [{ customer_identifier: { operator: "not", value: "ann" } }, ({ customer }) => customer !== "ann"],
      [{ customer_identifier: { operator: "lt", value: "b" } }, ({ customer }) => customer === "ann"],
      [{ thread_identifier: "t1" }, ({ thread }) => thread === "t1"],
      [{ customer_identifier: "ann", model: "m" }, ({ customer, model }) => customer === "ann" && model === "m"],
      [
        { customer_identifier: "bob", thread_identifier: "t1" },
        ({ customer, thread }) => customer === "bob" && thread === "t1",
      ],
      [
        { customer_identifier: "bob", thread_identifier: { operator: "not", value: "t2" } },
        ({ customer, thread }) => customer === "bob" && thread !== "t2",
      ],
    ];
    const agree = async () => {
      const { rows } = await store().listSpans(listOf(org, { fields }));
      for (const [sent, holds] of filters) {
        const filter = conditionOf(sent);
        const expected = rows.filter(
          ({ model, counted_customer_identifier: customer = "", counted_thread_identifier: thread = "" }) =>
            holds({ ...(model !== undefined && { model }), customer, thread }),
        );
        const found = await store().listSpans(listOf(org, { filter, fields }));
        expect([sent, found.rows]).toEqual([sent, expected]);
        expect(found.count).toBe(expected.length);
        const summary = await store().summarizeSpans({ ...everythingOf(org), filter });
        expect([sent, summary.number_of_requests]).toEqual([sent, expected.length]);
      }
      return rows.map(({ counted_customer_identifier: customer }) => String(customer)).toSorted();
    };
    expect(await agree()).toEqual(["", "", "ann", "ann", "ann", "ann", "eve"]);
    // The root names another customer now, so the stored counts of the others are out of date.
    await insert([root("bob", { ...ids, thread_identifier: "t1", version: "2" })]);
    expect(await agree()).toEqual(["", "", "ann", "bob", "bob", "bob", "eve"]);
    await insert([root("", { ...ids, version: "3" })]);
    expect(await agree()).toEqual(["", "", "ann", "eve", "eve", "eve", "eve"]);
    // A span below it is sent again with another end, and names its customer now.
    await insert([
      spanRow(org, { ...moved, timestamp: timeAt(4), version: "2", customer_identifier: "bob" }),
      spanRow(org, { ...moved, timestamp: timeAt(3), version: "2", is_deleted: 1 }),
    ]);
    expect(await agree()).toEqual(["", "", "ann", "bob", "eve", "eve", "eve"]);
  });

  it("averages scores over spans, and by group", async () => {
    const org = newOrganization();
    const { traces } = await insertTraces(org);
    const scores = traces.map((row, index) => ({
      organization_id: org,
      unique_id: row.unique_id,
      evaluator_id: "judge",
      version: "1",
      is_deleted: 0,
      environment: "prod",
      evaluator_slug: "judge",
      evaluator_name: "Judge",
      score_value_type: "numerical",
      text: "",
      value: index,
      is_passed: null,
      created_at: timeAt(0).slice(0, 23),
    }));
    const ndjson = Buffer.from(scores.map((score) => `${JSON.stringify(score)}\n`).join(""));
    await store().insert({ ndjson, rows: scores.length, token: randomUUID(), table: "scores" });
    expect(await store().summarizeScores(everythingOf(org))).toMatchObject([{ count: 9, avg_score: 4 }]);
    const grouped = async (groupBy: string, keys: string[]) => {
      const groups = await store().groupScores({ ...everythingOf(org), groupBy: [groupBy], keys });
      return Object.fromEntries(groups.map(({ text, figures }) => [text, figures.avg_score]));
    };
    const [a, c] = ["['a','prod']", "['c','prod']"];
    expect(await grouped("trace", [a, c])).toEqual({ [a]: 1, [c]: 7 });
    expect(await grouped("customer_identifier", ["ann"])).toEqual({ ann: 4 });
  });

  it("finds a span by its id, and spans by their keys, in the same order", async () => {
    const org = newOrganization();
    const { traces } = await insertTraces(org);
    const [first] = traces;
    const scope = { organization_id: org };
    expect(await store().findSpan(scope, first?.unique_id ?? "")).toMatchObject({ unique_id: first?.unique_id });
    expect(await store().findSpan(scope, randomUUID())).toBeUndefined();
    const keys = [traces[5], traces[0], spanRow(org), traces[3]].flatMap((row) =>
      row === undefined ? [] : [{ ...keyOf(row), version: row.version }],
    );
    const rows = await store().hydrateSpans(scope, keys, ["unique_id", "span_unique_id"]);
    expect(rows.map((row) => row.unique_id)).toEqual([5, 0, 3].map((index) => traces[index]?.unique_id));
  });
}
