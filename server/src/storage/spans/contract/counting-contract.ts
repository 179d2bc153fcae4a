import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ContractDriver } from "./span-fixtures.ts";
import { everythingOf, keyOf, newOrganization, spanRow, timeAt } from "./span-fixtures.ts";

/** What the counter, the recount and averages of scores read. */
export function describeCounting({ store, insert }: ContractDriver): void {
  const call = { log_type: "chat", cost: 0.5, cost_source: "computed", prompt_tokens: 1, total_tokens: 1 };
  /** A root that names the customer, and calls below it; and a span of no trace. */
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
    it("reads spans by trace, by id and by the call that they name, with what they were found to count for", async () => {
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

    it("names the traces that count for a customer, and all that there are, part by part", async () => {
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

  it("scores are averaged over spans, and by group", async () => {
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

  it("a span is found by its id, and spans by their keys in the order of those", async () => {
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
