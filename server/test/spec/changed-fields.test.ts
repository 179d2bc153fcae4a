import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiLimits } from "../../src/api/limits.ts";
import { storageLimits } from "../../src/storage/limits.ts";
import { getTrace, ingest, listTraces, retrieveTrace, type Node } from "../support/traces.ts";
import { always, bodyOf, createSpan, retrieveSpan, settle, sortedValues } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";

/** Section F of the additions: changed fields of spans in filters, orders, groups and exports. */

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const fields = ({ note, is_pinned, positive_feedback, metadata }: Row) => ({
  note,
  is_pinned,
  positive_feedback,
  metadata,
});

async function newOrganization(): Promise<void> {
  ({ prod } = await app.newOrganization());
}

const newSpan = async (span: Row) => (await createSpan(prod, { input: "hi", model: "m", ...span }))["unique_id"];

async function change(id: unknown, changed: unknown): Promise<void> {
  const answer = await prod.request("PATCH", `/api/request-logs/${String(id)}/`, changed);
  if (answer.status !== 200) throw new Error(`the change answered ${answer.status}: ${answer.text}`);
}

const idsOf = ({ results }: ListAnswer) => results.map((row) => row["unique_id"]);

describe("a changed field", () => {
  let ids: unknown[];
  beforeAll(async () => {
    await newOrganization();
    ids = [];
    for (const [n, plan] of ["pro", "pro", "free", undefined].entries()) {
      ids.push(
        await newSpan({
          trace_unique_id: `t${n}`,
          span_unique_id: "s",
          timestamp: `2026-01-01T00:00:0${n}Z`,
          cost: 1,
          customer_identifier: `c${n}`,
          thread_identifier: `th${n}`,
          metadata: plan === undefined ? undefined : { plan, nested: { a: 1 }, rank: n },
        }),
      );
    }
    await settle(prod);
    await change(ids[0], { note: "Bad answer", is_pinned: true, positive_feedback: false, metadata: { plan: "free" } });
    await change(ids[1], { positive_feedback: true, metadata: { nested: { b: 2 }, rank: 30 } });
    await change(ids[2], { note: "good", metadata: { plan: null } });
    await change(ids[3], { metadata: { plan: "new", rank: 4 } });
  });

  const places = (list: ListAnswer) =>
    idsOf(list)
      .map((id) => ids.indexOf(id))
      .filter((place) => place !== -1);
  const filters: [Row, number[]][] = [
    [{ note: ["Bad answer"] }, [0]],
    [{ note: { operator: "icontains", value: ["BAD"] } }, [0]],
    [{ note: { operator: "isnull", value: [false] } }, [0, 2]],
    [{ is_pinned: [true] }, [0]],
    [{ is_pinned: [false] }, [1, 2, 3]],
    [{ positive_feedback: [true] }, [1]],
    [{ positive_feedback: [false] }, [0]],
    [{ positive_feedback: { operator: "isnull", value: [true] } }, [2, 3]],
    [{ metadata__plan: ["free"] }, [0]],
    [{ metadata__plan: ["pro"] }, [1]],
    [{ metadata__plan: { operator: "not", value: ["pro"] } }, [0, 2, 3]],
    [{ metadata__plan: { operator: "isnull", value: [true] } }, [2]],
    [{ metadata__nested__a: [1] }, [0, 2]],
    [{ metadata__nested__b: [2] }, [1]],
    [{ metadata__rank: { operator: "gte", value: [3] } }, [1, 3]],
    [{ metadata: { operator: "contains", value: ["new"] } }, [3]],
    [{ metadata__plan: ["free"], customer_identifier: ["c0"], is_pinned: [true] }, [0]],
    [{ metadata__plan: ["free"], customer_identifier: ["c1"] }, []],
  ];
  const seconds = "start_time=2026-01-01T00:00:00Z&end_time=2026-01-01T00:01:00Z";
  const listWithin = async (by: Row, query = "") =>
    (await prod.post(`/api/request-logs/list/?${seconds}&${query}`, { filters: by })).json as ListAnswer;

  test.each(filters)("is filtered by: %j", async (by, expected) => {
    expect(places(await listWithin(by)).sort((a, b) => a - b)).toEqual(expected);
    const traces = (await prod.post(`/api/traces/list/?${seconds}`, { filters: by })).json as ListAnswer;
    expect(sortedValues(traces.results, "trace_unique_id")).toEqual(expected.map((n) => `t${n}`));
    const threads = (await prod.post(`/api/log_threads/?${always}`, { filters: by })).json as ListAnswer;
    expect(sortedValues(threads.results, "thread_identifier")).toEqual(expected.map((n) => `th${n}`));
    const sums = (await prod.post(`/api/request-logs/summary/?${seconds}`, { filters: by })).json;
    expect(sums).toMatchObject({ number_of_requests: expected.length, total_cost: expected.length });
    const exported = await prod.post(`/api/request-logs/export/?${seconds}&fields=unique_id`, { filters: by });
    expect(exported.text.split("\n").filter(Boolean).length).toBe(expected.length);
  });

  test("is filtered by in the URL, and only for the caller's own spans", async () => {
    const list = async (query: string, client = prod) =>
      (await client.get(`/api/request-logs/list/?${seconds}&${query}`)).json as ListAnswer;
    expect(places(await list("is_pinned=true"))).toEqual([0]);
    expect(places(await list("plan=free"))).toEqual([0]);
    expect(places(await list("note[value]=bad&note[operator]=icontains"))).toEqual([0]);
    expect((await list("is_pinned=true", (await app.newOrganization()).prod)).count).toBe(0);
  });

  test.each([
    ["note", [0, 2, 1, 3]],
    ["-is_pinned", [0, 3, 2, 1]],
    ["-positive_feedback", [1, 0, 3, 2]],
    ["metadata__rank", [0, 2, 3, 1]],
    ["-metadata__plan", [1, 3, 0, 2]],
  ])("sorts by %s, over pages too", async (sort, expected) => {
    const all = await listWithin({}, `sort_by=${sort}`);
    const sorted = places(all);
    expect(sorted).toEqual(expected);
    const pages: unknown[] = [];
    let next: string | null = `/api/request-logs/list/?${seconds}&sort_by=${sort}&page_size=1`;
    while (next !== null) {
      const page = (await prod.get(next)).json as ListAnswer & { next: string | null };
      pages.push(...places(page));
      next = page.next === null ? null : new URL(page.next).pathname + new URL(page.next).search;
    }
    expect(pages).toEqual(sorted);
  });

  test("is used in groups, series and facets", async () => {
    const groups = (await prod.get(`/api/request-logs/groups/?${seconds}&group_by=metadata__plan`)).json as ListAnswer;
    const byPlan = Object.fromEntries(groups.results.map((row) => [row["metadata__plan"], row["number_of_requests"]]));
    expect(byPlan).toEqual({ free: 1, pro: 1, new: 1, "": 1 });
    const series = bodyOf(
      await prod.get(
        `/api/request-logs/timeseries/?${seconds}&interval=1m&metrics=number_of_requests&group_by=metadata__plan`,
      ),
    )["series"] as Array<{ group: Row; totals: Row }>;
    expect(
      Object.fromEntries(series.map(({ group, totals }) => [group["metadata__plan"], totals["number_of_requests"]])),
    ).toEqual(byPlan);
    const facets = bodyOf(await prod.post(`/api/request-logs/facets/?${seconds}&fields=metadata__plan`, {}));
    expect(facets["metadata_keys"]).toContainEqual({ key: "nested__b", count: 1 });
    expect((facets["facets"] as Row)["metadata__plan"]).toHaveLength(3);
  });

  test("is exported in every format", async () => {
    const query = `${seconds}&fields=unique_id,note,is_pinned,positive_feedback,metadata`;
    const jsonl = await prod.post(`/api/request-logs/export/?${query}`, {});
    const rows = jsonl.text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Row);
    for (const row of rows) {
      const { unique_id, ...exported } = row;
      expect(exported).toEqual(fields(await retrieveSpan(prod, unique_id)));
    }
    expect(rows).toHaveLength(4);
    const csv = await prod.post(`/api/request-logs/export/?${query}&format=csv`, {});
    expect(csv.text).toContain("Bad answer");
    expect((await prod.post(`/api/request-logs/export/?${query}&format=parquet`, {})).status).toBe(200);
    const traces = await prod.post(`/api/traces/export/?${seconds}&fields=trace_unique_id,metadata`, {});
    expect(traces.text).toContain('"trace_unique_id":"t3","metadata":{"plan":"new","rank":4}');
  });
});

describe("a changed field is in the trace of its span", () => {
  const edits = { note: "seen", is_pinned: true, positive_feedback: false, metadata: { plan: "free", by: "kim" } };
  const sizes = [3, storageLimits.smallTraceRows + 1, apiLimits.fullTreeSpans + 1];

  test.each(sizes)("of %d spans, whole, slim and flat, and in the row of the trace", async (count) => {
    await newOrganization();
    const trace = `t${count}`;
    const spans = Array.from({ length: count }, (_, n) => ({
      trace_unique_id: trace,
      span_unique_id: `s${n}`,
      ...(n > 0 && { span_parent_id: n === count - 1 ? "s1" : "s0" }),
      start_time: "2026-01-01T00:00:00Z",
      timestamp: "2026-01-01T00:00:01Z",
      metadata: { plan: "pro", n },
    }));
    for (let start = 0; start < count; start += 5_000) await ingest(prod, spans.slice(start, start + 5_000));
    const idOf = async (n: number) =>
      idsOf(
        (await prod.post(`/api/request-logs/list/?${always}`, { filters: { span_unique_id: [`s${n}`] } }))
          .json as ListAnswer,
      )[0];
    await change(await idOf(0), edits);
    await change(await idOf(count - 1), edits);

    const whole = await retrieveTrace(prod, trace);
    const leafOf = ([root]: Node[]) => root?.children.find(({ children }) => children.length > 0)?.children[0];
    const leaf = leafOf(whole.span_tree);
    const { metadata, ...plain } = edits;
    expect([whole["metadata"], whole["is_slim"]]).toEqual([{ n: 0, ...metadata }, count > apiLimits.fullTreeSpans]);
    for (const [n, node] of [whole.span_tree[0], leaf].entries()) {
      const own = { n: n === 0 ? 0 : count - 1, ...metadata };
      expect(node).toMatchObject({ ...plain, ...(whole["is_slim"] !== true && { metadata: own }) });
    }
    const slim = await retrieveTrace(prod, trace, "tree=slim");
    expect(leafOf(slim.span_tree)).toMatchObject(plain);
    const last = Math.ceil(count / 1_000);
    const pages = await Promise.all(
      Array.from({ length: last }, async (_, page) => {
        const flat = bodyOf(await getTrace(prod, trace, `tree=flat&page_size=1000&page=${page + 1}`));
        return (flat["spans"] as ListAnswer).results;
      }),
    );
    const changed = pages.flat().filter(({ note }) => note !== null);
    expect(changed).toHaveLength(2);
    for (const row of changed) expect(row).toMatchObject({ ...plain, metadata });
    const row = (await listTraces(prod)).results.find(({ trace_unique_id }) => trace_unique_id === trace);
    expect(row?.["metadata"]).toEqual({ n: 0, ...metadata });
  });
});

test("exports keep the digits of unchanged values", async () => {
  await newOrganization();
  const id = await newSpan({ timestamp: "2026-02-02T00:00:00Z" });
  await settle(prod);
  const body = `{"logs": [{"timestamp": "2026-02-02T00:00:00Z", "metadata": {"n": 12345678901234567890123, "f": 1.50}}]}`;
  await prod.request("POST", "/api/request-logs/bulk/", body);
  await settle(prod);
  const window = "start_time=2026-02-01&end_time=2026-02-03";
  const { results } = (await prod.post(`/api/request-logs/list/?${window}`, {})).json as ListAnswer;
  for (const { unique_id } of results) await change(unique_id, { metadata: { reviewed: true } });
  const exported = await prod.post(`/api/request-logs/export/?${window}&fields=metadata`, {});
  expect(exported.text).toContain('{"n":12345678901234567890123,"f":1.5,"reviewed":true}');
  expect(exported.text).toContain('{"metadata":{"reviewed":true}}');
  expect(id).toBeDefined();
});
