import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { always, listSpans, summarize } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";
import { getTrace, ingest, listTraces, retrieveTrace, traceSpan, type Node } from "../support/traces.ts";

let app: TestApp;
let prod: TestClient;

const chain = 5_000;
const children = 20_000;
const spans = 45_000;

const usage = { log_type: "chat", model: "own-model", prompt_tokens: 1, completion_tokens: 1, cost: 0.001 };
const payload = { input: "x".repeat(200), metadata: { k: "v" } };

const rows: Record<string, Row[]> = {
  deep: Array.from({ length: chain }, (_, n) =>
    traceSpan("deep", `d${n}`, n === 0 ? null : `d${n - 1}`, n, n === chain - 1 ? usage : {}),
  ),
  wide: Array.from({ length: children + 1 }, (_, n) =>
    traceSpan("wide", `w${n}`, n === 0 ? null : "w0", n, n === 0 ? {} : { ...usage, ...payload }),
  ),
  // A tree in which each span has ten children.
  large: Array.from({ length: spans }, (_, n) =>
    traceSpan("large", `l${n}`, n === 0 ? null : `l${Math.floor((n - 1) / 10)}`, n % 3600, payload),
  ),
};

beforeAll(async () => {
  app = await startTestApp();
  prod = app.prod;
  for (const all of Object.values(rows)) {
    const requests = [];
    for (let start = 0; start < all.length; start += 5_000) requests.push(all.slice(start, start + 5_000));
    await ingest(prod, ...requests);
  }
}, 60_000);
afterAll(() => app.stop());

/** The number of nodes and their depth, without recursion. */
function measure(roots: readonly Node[]): { count: number; depth: number; ids: Set<string> } {
  const ids = new Set<string>();
  let depth = 0;
  for (let level = roots; level.length > 0; level = level.flatMap((node) => node.children)) {
    depth += 1;
    for (const node of level) ids.add(node.span_unique_id);
  }
  return { count: ids.size, depth, ids };
}

describe("traces that are very deep, wide or large", () => {
  test("are listed", async () => {
    const { results } = await listTraces(prod, {}, `${always}&sort_by=span_count`);
    expect(results.map((row) => [row["trace_unique_id"], row["span_count"], row["llm_call_count"]])).toEqual([
      ["deep", chain, 1],
      ["wide", children + 1, children],
      ["large", spans, 0],
    ]);
    expect(results.map((row) => row["total_tokens"])).toEqual([2, 2 * children, 0]);
    expect(await summarize(prod, { trace_unique_id: { operator: "in", value: Object.keys(rows) } })).toMatchObject({
      number_of_requests: chain + children + 1 + spans,
      total_tokens: 2 * children + 2,
    });
  });

  test.each([
    ["deep", chain, chain, false],
    ["wide", children + 1, 2, true],
    ["large", spans, 6, true],
  ])("%s is retrieved with every span once; slim by itself from 10,000 spans on", async (id, count, depth, isSlim) => {
    // The response of a deep trace nests too deep for JSON.parse with a reviver, but not without one.
    const trace = await retrieveTrace(prod, id);
    const { ids, ...measured } = measure(trace.span_tree);
    expect([measured, ids.size]).toEqual([{ count, depth }, count]);
    expect(trace).toMatchObject({ span_count: count, is_slim: isSlim, is_truncated: false });
    expect(trace.span_tree).toHaveLength(1);
  });

  test("resent spans do not make a trace larger", async () => {
    // Three times as many rows as a full tree has spans.
    await ingest(prod, rows["deep"] ?? [], rows["deep"] ?? []);
    const trace = await retrieveTrace(prod, "deep");
    expect(trace).toMatchObject({ span_count: chain, is_slim: false, is_truncated: false });
    expect(measure(trace.span_tree)).toMatchObject({ count: chain, depth: chain });
  });

  test("are read by pages with all members", async () => {
    const pageOf = async (page: number) => {
      const trace = (await getTrace(prod, "wide", `tree=flat&page_size=1000&page=${page}`)).json as Row;
      return trace["spans"] as ListAnswer;
    };
    const ids = ({ results }: ListAnswer) => results.map((span) => span["span_unique_id"]);
    const named = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `w${from + n}`);
    const second = await pageOf(2);
    expect([second.count, ids(second)]).toEqual([children + 1, named(1000, 2000)]);
    expect(second.results[0]).toMatchObject(payload);
    expect(ids(await pageOf(21))).toEqual([`w${children}`]);
    expect(await pageOf(22)).toMatchObject({ count: children + 1, next: null, results: [] });
  });

  test("are deleted", async () => {
    for (const id of Object.keys(rows)) {
      const answer = await prod.request("DELETE", `/api/traces/${id}/?${always}`);
      expect([answer.status, (answer.json as Row)["deleted_spans"]]).toEqual([200, rows[id]?.length]);
      expect((await getTrace(prod, id)).status).toBe(404);
      expect((await listSpans(prod, { trace_unique_id: [id] })).count).toBe(0);
    }
  });
});
