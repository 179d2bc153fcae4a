import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { always, bodyOf, summarize } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type ListAnswer, type Row, type TestClient } from "../support/test-client.ts";
import { drawTree, getTrace, ingest, listTraces, retrieveTrace, second, traceSpan } from "../support/traces.ts";

let app: TestApp;
let prod: TestClient;
let testKey: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod, test: testKey } = await app.newOrganization());
});
afterAll(() => app.stop());

let traces = 0;
const newTrace = () => `trace-${(traces += 1)}`;

describe("a retrieved trace", () => {
  test("is its row of the list, with the tree of its spans", async () => {
    const id = newTrace();
    await ingest(prod, [
      traceSpan(id, "root", null, 0, { input: "q", output: "a", metadata: { k: [1, { deep: true }], _secret: 1 } }),
      traceSpan(id, "call", "root", 1, {
        log_type: "chat",
        model: "m",
        prompt_messages: [{ role: "user", content: "hello" }],
        completion_message: { role: "assistant", content: "hi" },
        prompt_tokens: 3,
        completion_tokens: 4,
        cost: 0.25,
        customer_identifier: "anna",
        thread_identifier: "th",
      }),
    ]);
    const { span_tree: tree, is_slim, is_truncated, ...trace } = await retrieveTrace(prod, id);
    expect([trace]).toEqual((await listTraces(prod, { trace_unique_id: id })).results);
    expect([is_slim, is_truncated]).toEqual([false, false]);
    const [root] = tree;
    expect(root).toMatchObject({
      span_unique_id: "root",
      span_parent_id: null,
      span_name: "root",
      trace_unique_id: id,
      log_type: "task",
      input: "q",
      output: "a",
      metadata: { k: [1, { deep: true }] },
      start_time: second(0),
      timestamp: second(1),
      end_time: second(1),
      status: "success",
      status_code: 200,
      environment: "prod",
      cost: null,
      prompt_tokens: null,
    });
    expect(root?.children).toMatchObject([
      {
        span_parent_id: "root",
        input: '[{"role":"user","content":"hello"}]',
        output: '{"role":"assistant","content":"hi"}',
        prompt_tokens: 3,
        completion_tokens: 4,
        total_request_tokens: 7,
        cost: 0.25,
        latency: 1,
        model: "m",
        customer_identifier: "anna",
        thread_identifier: "th",
        children: [],
      },
    ]);
    // The routes of spans find a node by its unique_id.
    const span = await prod.get(`/api/request-logs/${String(root?.["unique_id"])}/`);
    expect(bodyOf(span)).toMatchObject({ span_unique_id: "root", metadata: { k: [1, { deep: true }] } });
  });

  test("is searched in the environment of the key, then in the other", async () => {
    const [both, elsewhere] = [newTrace(), newTrace()];
    await ingest(prod, [traceSpan(both, "a", null, 0, { span_name: "in prod" })]);
    await ingest(testKey, [traceSpan(both, "a", null, 0, { span_name: "in test" }), traceSpan(elsewhere, "a", null)]);
    expect(await retrieveTrace(prod, both)).toMatchObject({ environment: "prod", name: "in prod", span_count: 1 });
    expect(await retrieveTrace(testKey, both)).toMatchObject({ environment: "test", name: "in test", span_count: 1 });
    expect(await retrieveTrace(prod, elsewhere)).toMatchObject({ environment: "test" });
    for (const tree of ["full", "slim", "table", "flat"]) {
      const read = (id: string, environment: string) =>
        prod.get(`/api/traces/${id}/?tree=${tree}&environment=${environment}`);
      expect((await read(both, "test")).json).toMatchObject({ environment: "test", name: "in test", span_count: 1 });
      expect((await read(both, "all")).json).toMatchObject({ environment: "prod" });
      expect([(await read(elsewhere, "prod")).status, (await read(both, "production")).status]).toEqual([404, 400]);
    }
  });

  test("that is missing, or another organisation's, is 404", async () => {
    const id = newTrace();
    await ingest(prod, [traceSpan(id, "a", null)]);
    const other = await app.newOrganization();
    for (const [client, wanted] of [
      [other.prod, id],
      [prod, "nothing"],
      [prod, "' OR 1=1"],
    ] as const) {
      const answer = await getTrace(client, wanted);
      expect(answer.status).toBe(404);
      expect(bodyOf(answer)).toMatchObject({
        error: expect.any(String),
        detail: expect.any(String),
        code: "not_found",
      });
    }
    expect((await getTrace(createClient(app.url), id)).status).toBe(401);
  });

  test("with an id that needs escaping is found", async () => {
    for (const id of ["a b", "ü/é", "q?x=1#y", "100%"]) {
      await ingest(prod, [traceSpan(id, "a", null)]);
      expect((await retrieveTrace(prod, id))["trace_unique_id"]).toBe(id);
    }
  });
});

describe("the tree", () => {
  const parts: Array<[name: string, spans: Array<[id: string, parent: string | null, start?: number]>, tree: string]> =
    [
      [
        "children before parents",
        [
          ["c", "b", 2],
          ["b", "a", 1],
          ["a", null, 0],
        ],
        "a(b(c))",
      ],
      [
        "a parent that never comes",
        [
          ["a", null, 0],
          ["o", "gone", 1],
          ["p", "o", 2],
        ],
        "a o(p)",
      ],
      [
        "two roots",
        [
          ["b", null, 1],
          ["a", null, 0],
          ["c", "b", 2],
        ],
        "a b(c)",
      ],
      [
        "a span that is its own parent",
        [
          ["a", "a", 0],
          ["b", "a", 1],
        ],
        "a(b)",
      ],
      [
        "two that are each other's parent",
        [
          ["a", "b", 0],
          ["b", "a", 1],
        ],
        "a(b)",
      ],
      [
        "a cycle beside a root",
        [
          ["r", null, 5],
          ["a", "b", 0],
          ["b", "c", 1],
          ["c", "a", 2],
          ["d", "c", 3],
        ],
        "a(c(b d)) r",
      ],
      [
        "a child that began before its parent",
        [
          ["a", null, 5],
          ["b", "a", 4],
          ["c", "a", -90_000],
        ],
        "a(c b)",
      ],
    ];
  test.each(parts)("of %s is the same for any order of arrival", async (_name, spans, tree) => {
    for (const order of [spans, spans.toReversed()]) {
      const id = newTrace();
      // Each in its own request, so that none waits for another.
      await ingest(prod, ...order.map(([span, parent, start = 0]) => [traceSpan(id, span, parent, start)]));
      const trace = await retrieveTrace(prod, id);
      expect(drawTree(trace.span_tree)).toBe(tree);
      expect(trace["span_count"]).toBe(spans.length);
    }
  });

  test("shows an orphan with the id of its parent", async () => {
    const id = newTrace();
    await ingest(prod, [traceSpan(id, "o", "gone")]);
    expect((await retrieveTrace(prod, id)).span_tree).toMatchObject([{ span_unique_id: "o", span_parent_id: "gone" }]);
    await ingest(prod, [traceSpan(id, "gone", null, 9)]);
    expect(drawTree((await retrieveTrace(prod, id)).span_tree)).toBe("gone(o)");
  });

  test("sorts siblings by their start, to the nanosecond", async () => {
    const id = newTrace();
    const at = (fraction: string) => ({ start_time: second(1, fraction), timestamp: second(2) });
    await ingest(prod, [
      traceSpan(id, "root", null),
      traceSpan(id, "3", "root", 1, at("000000003")),
      traceSpan(id, "1", "root", 1, at("000000001")),
      traceSpan(id, "2", "root", 1, at("000000002")),
    ]);
    expect(drawTree((await retrieveTrace(prod, id)).span_tree)).toBe("root(1 2 3)");
  });

  test("keeps odd clocks as they are; the duration is never negative", async () => {
    const id = newTrace();
    await ingest(prod, [traceSpan(id, "root", null, 0, { start_time: second(5), timestamp: second(1) })]);
    expect(await retrieveTrace(prod, id)).toMatchObject({ duration: 0, start_time: second(5), end_time: second(1) });
    const far = newTrace();
    const times = [
      ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"],
      ["2100-01-01T00:00:00Z", "2100-01-01T00:00:01Z"],
    ];
    await ingest(
      prod,
      times.map(([start_time, timestamp], n) => ({
        ...traceSpan(far, String(n), n === 0 ? null : "0"),
        start_time,
        timestamp,
      })),
    );
    expect(drawTree((await retrieveTrace(prod, far)).span_tree)).toBe("0(1)");
  });

  test("shows a resent span once, in its last version", async () => {
    const id = newTrace();
    await ingest(
      prod,
      [traceSpan(id, "a", null, 0)],
      [traceSpan(id, "a", null, 0, { timestamp: second(7), output: "done" })],
    );
    const trace = await retrieveTrace(prod, id);
    expect(trace.span_tree).toMatchObject([{ span_unique_id: "a", output: "done", children: [] }]);
    expect(trace).toMatchObject({ span_count: 1, duration: 7, output: "done" });
  });
});

describe("the query", () => {
  const id = "of the query";
  beforeAll(async () => {
    const members = { input: "i", output: "o", metadata: { k: 1 } };
    await ingest(prod, [
      traceSpan(id, "root", null, 0, members),
      ...[1, 2, 3, 4].map((n) => traceSpan(id, String(n), "root", n, members)),
    ]);
  });

  test("tree=slim omits input, output and metadata of the nodes", async () => {
    const trace = await retrieveTrace(prod, id, "tree=slim");
    expect(drawTree(trace.span_tree)).toBe("root(1 2 3 4)");
    expect(trace).toMatchObject({ is_slim: true, input: "i", metadata: { k: 1 } });
    for (const member of ["input", "output", "metadata"]) expect(trace.span_tree[0]).not.toHaveProperty(member);
  });

  test("tree=flat returns a page of the spans", async () => {
    const trace = await retrieveTrace(prod, id, "tree=flat&page_size=2");
    expect(trace).not.toHaveProperty("span_tree");
    const pages: ListAnswer[] = [trace["spans"] as ListAnswer];
    for (let next = pages[0]?.next; next; next = pages.at(-1)?.next) {
      pages.push(bodyOf(await prod.get(next))["spans"] as ListAnswer);
    }
    expect(pages.map((page) => page.results.map((span) => span["span_unique_id"]))).toEqual([
      ["root", "1"],
      ["2", "3"],
      ["4"],
    ]);
    expect(pages[2]).toMatchObject({ count: 5, results: [{ input: "i", metadata: { k: 1 } }] });
  });

  test("that is invalid is 400 naming the parameter", async () => {
    for (const query of ["tree=wide", "tree=flat&page=0", "page_size=5000"]) {
      const answer = await getTrace(prod, id, query);
      expect([answer.status, bodyOf(answer)["code"]]).toEqual([400, "invalid_request"]);
    }
  });
});

describe("usage that a span restates from those below it counts once", () => {
  const tokens = (prompt: number, completion: number, cost?: number): Row => ({
    prompt_tokens: prompt,
    completion_tokens: completion,
    ...(cost !== undefined && { cost }),
  });
  const wrapped: Array<[name: string, spans: (id: string) => Row[], figures: { tokens: number; cost: number }]> = [
    [
      "an agent over two model calls",
      (id) => [
        traceSpan(id, "agent", null, 0, { log_type: "agent", ...tokens(29_000, 899, 3) }),
        traceSpan(id, "a", "agent", 1, { log_type: "chat", ...tokens(19_500, 500, 2) }),
        traceSpan(id, "b", "agent", 2, { log_type: "chat", ...tokens(9_500, 399, 1) }),
      ],
      { tokens: 29_899, cost: 3 },
    ],
    [
      "a model call over the same model call",
      (id) => [
        traceSpan(id, "framework", null, 0, { log_type: "chat", ...tokens(100, 10, 1) }),
        traceSpan(id, "provider", "framework", 0, { log_type: "chat", ...tokens(100, 10, 1) }),
      ],
      { tokens: 110, cost: 1 },
    ],
    [
      "an agent with nothing below it",
      (id) => [traceSpan(id, "agent", null, 0, { log_type: "agent", ...tokens(100, 10, 1) })],
      { tokens: 110, cost: 1 },
    ],
    [
      "an agent over spans without usage, or with zeros",
      (id) => [
        traceSpan(id, "agent", null, 0, { log_type: "agent", ...tokens(100, 10, 1) }),
        traceSpan(id, "tool", "agent", 1, { log_type: "tool" }),
        traceSpan(id, "zeros", "agent", 1, { log_type: "tool", ...tokens(0, 0, 0) }),
      ],
      { tokens: 110, cost: 1 },
    ],
    [
      "wrappers of wrappers, with others between",
      (id) => [
        traceSpan(id, "workflow", null, 0, { log_type: "workflow", ...tokens(100, 10, 1) }),
        ...Array.from({ length: 12 }, (_, n) => traceSpan(id, `t${n}`, n === 0 ? "workflow" : `t${n - 1}`, n)),
        traceSpan(id, "agent", "t11", 13, { log_type: "agent", ...tokens(100, 10, 1) }),
        traceSpan(id, "task", "agent", 14),
        traceSpan(id, "call", "task", 15, { log_type: "chat", ...tokens(100, 10, 1) }),
      ],
      { tokens: 110, cost: 1 },
    ],
    [
      "a wrapper of which a child was not exported: what the children say is shown",
      (id) => [
        traceSpan(id, "agent", null, 0, { log_type: "agent", ...tokens(90, 10, 1) }),
        traceSpan(id, "call", "agent", 1, { log_type: "chat", ...tokens(50, 10, 0.6) }),
      ],
      { tokens: 60, cost: 0.6 },
    ],
    [
      "two branches, one of them a wrapper alone",
      (id) => [
        traceSpan(id, "root", null, 0, { log_type: "workflow" }),
        traceSpan(id, "a", "root", 1, { log_type: "agent", ...tokens(10, 0, 1) }),
        traceSpan(id, "b", "root", 2, { log_type: "agent", ...tokens(20, 0, 2) }),
        traceSpan(id, "call", "b", 2, { log_type: "chat", ...tokens(20, 0, 2) }),
      ],
      { tokens: 30, cost: 3 },
    ],
    [
      "a cycle, without end",
      (id) => [
        traceSpan(id, "a", "b", 0),
        traceSpan(id, "b", "a", 1),
        traceSpan(id, "call", "b", 2, { log_type: "chat", ...tokens(20, 0, 2) }),
      ],
      { tokens: 20, cost: 2 },
    ],
  ];

  test.each(wrapped)("%s: trace, list, thread, groups and summary agree", async (_name, spansOf, figures) => {
    const [inOrder, reversed] = [newTrace(), newTrace()];
    const spans = (id: string) => spansOf(id).map((span) => ({ ...span, thread_identifier: id, model: "own-model" }));
    await ingest(prod, ...[...spans(inOrder), ...spans(reversed).toReversed()].map((span) => [span]));
    const expected = { total_tokens: figures.tokens, total_cost: figures.cost };
    for (const id of [inOrder, reversed]) {
      const ofTrace = { trace_unique_id: id };
      expect(await retrieveTrace(prod, id)).toMatchObject(expected);
      expect((await listTraces(prod, ofTrace)).results).toMatchObject([expected]);
      const filters = {
        ...ofTrace,
        total_tokens: [figures.tokens],
        total_cost: { operator: "gte", value: [figures.cost] },
      };
      expect((await listTraces(prod, filters, `${always}&sort_by=total_cost`)).results).toMatchObject([expected]);
      expect(await summarize(prod, ofTrace)).toMatchObject(expected);
      for (const groupBy of ["trace", "thread", "log_type"]) {
        const path = `/api/request-logs/groups/?${always}&group_by=${groupBy}`;
        const rows = ((await prod.post(path, { filters: ofTrace })).json as ListAnswer).results;
        const sum = (member: string) => rows.reduce((total, row) => total + Number(row[member]), 0);
        expect([groupBy, sum("total_tokens")]).toEqual([groupBy, figures.tokens]);
        expect(sum("total_cost")).toBeCloseTo(figures.cost, 12);
      }
    }
  });

  test("a filter that matches only the wrapper does not count its usage again", async () => {
    const id = newTrace();
    await ingest(prod, [
      traceSpan(id, "agent", null, 0, { log_type: "agent", ...tokens(100, 10, 1) }),
      traceSpan(id, "call", "agent", 1, { log_type: "chat", ...tokens(100, 10, 1) }),
    ]);
    const of = (type: string) => summarize(prod, { trace_unique_id: id, log_type: [type] });
    expect(await of("agent")).toMatchObject({ number_of_requests: 1, total_tokens: 0, total_cost: 0 });
    expect(await of("chat")).toMatchObject({ number_of_requests: 1, total_tokens: 110, total_cost: 1 });
  });

  test("spans of other traces, environments and organisations restate nothing", async () => {
    const own = await app.newOrganization();
    const agent = traceSpan("t", "agent", null, 0, { log_type: "agent", ...tokens(100, 10, 1) });
    const call = (trace: string) => traceSpan(trace, "call", "agent", 1, { log_type: "chat", ...tokens(50, 10, 1) });
    await ingest(own.prod, [agent, call("other")]);
    await ingest(own.test, [call("t")]);
    expect(await retrieveTrace(own.prod, "t")).toMatchObject({ environment: "prod", total_tokens: 110 });
    expect(await summarize(own.prod)).toMatchObject({ total_tokens: 110 + 60 + 60 });
  });
});
