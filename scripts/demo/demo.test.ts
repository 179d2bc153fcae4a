import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { programEnvironment } from "../../server/test/support/server-process.ts";
import { startTestApp, testKeys, type TestApp } from "../../server/test/support/test-app.ts";
import type { ListAnswer, Row } from "../../server/test/support/test-client.ts";
import { sendSpans } from "./send-spans.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const since = "2020-01-01";
const hourMs = 3_600_000;
/** The time of the last demo run, and what it printed. */
let ranMs = 0;
let printed = "";
const demo = new URL("../demo.ts", import.meta.url).pathname;

async function runDemo(args: string[], env: Record<string, string> = {}) {
  const options = { env: { ...programEnvironment(), ...env } };
  return promisify(execFile)(process.execPath, [demo, ...args], options).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    (error: { code: number; stderr: string }) => ({ code: error.code, output: error.stderr }),
  );
}

test("the demo loads the data set once, however often it runs", async () => {
  for (const run of ["first", "second"]) {
    ranMs = Date.now();
    const { code, output } = await runDemo(["--url", app.url], { SPANWAY_PROD_KEY: testKeys.prod });
    expect([run, code]).toEqual([run, 0]);
    printed = output;
    expect(output).toMatch(
      /Sent 3603 spans in 8 requests .*: 526 traces, 1653 model calls, 572 tool calls, 40 customers\.\nScored 68 answers\.\nCreated the alerts/,
    );
  }
  expect(await app.prod.list({}, { start_time: since })).toMatchObject({ count: 3603 });
  expect((await app.prod.get("/api/alerts/")).json).toMatchObject({ count: 2 });
  expect((await app.prod.get("/automation/conditions/")).json).toMatchObject({ count: 1 });

  const summary = await app.prod.post(`/api/request-logs/summary/?start_time=${since}`);
  expect(summary.json).toMatchObject({ number_of_requests: 3603, error_count: 95, unpriced_count: 0 });

  const byType = await app.prod.get(
    `/api/request-logs/groups/?group_by=log_type&sort_by=-number_of_requests&start_time=${since}`,
  );
  const counts = (byType.json as ListAnswer).results.map((row) => [row["log_type"], row["number_of_requests"]]);
  expect(counts).toEqual([
    ["chat", 1653],
    ["tool", 572],
    ["embedding", 426],
    ["task", 426],
    ["workflow", 426],
    ["agent", 100],
  ]);
});

test("F3: questions that the demo suggests have the same answers now and in a year", async () => {
  const asked = [...printed.matchAll(/curl -s '([^']+)'[^']*'content-type: application\/json' -d '([^']+)'/g)];
  expect(asked).toHaveLength(3);
  const ask = async (url: string, body: string) => {
    const { status, json } = await app.prod.post(url, JSON.parse(body));
    const { results, series, ...others } = json as { results?: Row[]; series?: Array<{ totals: Row }> } & Row;
    const figures = Object.fromEntries(Object.entries(others).filter(([, value]) => typeof value === "number"));
    return { status, figures, rows: results, totals: series?.map(({ totals }) => totals) };
  };
  for (const [, url = "", body = ""] of asked) {
    const now = await ask(url, body);
    expect(now.status).toBe(200);
    const later = `&end_time=${new Date(ranMs + 364 * 24 * hourMs).toISOString()}`;
    expect(await ask(url + later, body)).toEqual(now);
  }
  const [, summary] = asked;
  expect((await ask(summary?.[1] ?? "", "{}")).figures).toMatchObject({ number_of_requests: 3603, error_count: 95 });
});

test("its spans lie in the preceding 14 days, in working hours, with an evening of errors", async () => {
  const window = `start_time=${new Date(ranMs - 14 * 24 * hourMs).toISOString()}&end_time=${new Date().toISOString()}`;
  const chart = async (query: string) => {
    const answer = await app.prod.post(`/api/request-logs/timeseries/?${window}&metrics=number_of_requests&${query}`);
    const { buckets, series } = answer.json as {
      buckets: string[];
      series: [{ values: { number_of_requests: number[] }; totals: Row }];
    };
    const counts = series[0].values.number_of_requests;
    return {
      total: series[0].totals["number_of_requests"],
      busy: buckets.filter((_, n) => counts[n]),
      buckets,
      counts,
    };
  };
  const days = await chart("interval=1d");
  expect([days.total, days.busy.length]).toEqual([3603, expect.toSatisfy((n: number) => n >= 14)]);
  const desk = await chart("interval=1h&workflow_name=travel-desk");
  const atNight = desk.counts.filter(
    (_, n) => new Date(desk.buckets[n]!).getUTCHours() < 5 && n < desk.counts.length - 2,
  );
  expect(atNight.reduce((sum, count) => sum + count, 0)).toBeLessThan(Number(desk.total) / 20);
  const overloaded = await chart("interval=1h&status_code=529");
  expect(overloaded.total).toBe(42);
  const evening = overloaded.busy.map((start) => start.slice(0, 13).replace(/T(18|19|20)$/, " evening"));
  expect([...new Set(evening)]).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d evening$/)]);
});

test("one customer grows: more requests in the second week than in the first, and no other customer as fast", async () => {
  const perCustomer = async (fromDays: number, toDays: number) => {
    const at = (days: number) => new Date(ranMs - days * 24 * hourMs).toISOString();
    const query = `start_time=${at(fromDays)}&end_time=${at(toDays)}&workflow_name=travel-desk&group_by=customer_identifier`;
    const { results } = (await app.prod.get(`/api/request-logs/groups/?${query}`)).json as ListAnswer;
    return new Map(results.map((row) => [row["customer_identifier"], Number(row["number_of_requests"])]));
  };
  const [first, second] = [await perCustomer(14, 7), await perCustomer(7, -1)];
  const growth = [...second].map(([customer, count]) => [customer, count / (first.get(customer) ?? 0)] as const);
  const grown = growth.filter(([, ratio]) => ratio > 2).map(([customer]) => customer);
  expect(grown).toEqual(["bluebird-travel"]);
  expect(growth.length).toBeGreaterThan(3);
});

test("the demo uses the port of SPANWAY_PORT, unless SPANWAY_URL is set", async () => {
  const key = { SPANWAY_PROD_KEY: testKeys.prod };
  expect((await runDemo([], { ...key, SPANWAY_PORT: "1" })).output).toContain("http://127.0.0.1:1");
  const both = await runDemo([], { ...key, SPANWAY_PORT: "1", SPANWAY_URL: "http://127.0.0.1:2" });
  expect(both.output).toContain("http://127.0.0.1:2");
});

test("each conversation is a trace: an agent, its turns, and their tools below them", async () => {
  type Node = { log_type: string; children: Node[] };
  const path = `/api/traces/list/?page_size=100&start_time=${since}&workflow_name=airline-agent`;
  const list = (await app.prod.post(path)).json as ListAnswer;
  expect([list.count, list.results.length]).toEqual([100, 100]);
  const shapes = new Set<string>();
  let spans = 0;
  for (const { trace_unique_id: id, total_cost: cost } of list.results) {
    const { span_tree: tree } = (await app.prod.get(`/api/traces/${String(id)}/`)).json as { span_tree: Node[] };
    const walk = (nodes: readonly Node[], above: string): void => {
      for (const node of nodes) {
        spans += 1;
        shapes.add(`${above}${node.log_type}`);
        walk(node.children, `${above}${node.log_type}/`);
      }
    };
    walk(tree, "");
    expect([tree.length, Number(cost) > 0]).toEqual([1, true]);
  }
  expect(spans).toBe(1893);
  expect([...shapes].sort()).toEqual(["agent", "agent/chat", "agent/chat/tool"]);

  const threads = (await app.prod.post(`/api/log_threads/?start_time=${since}`)).json as ListAnswer;
  expect(threads.count).toBe(35 + 200 + 24);
});

test("costs are computed by the server: gpt-4o's price of the tokens", async () => {
  const { results } = await app.prod.list(
    { model: { value: ["gpt-4o"] } },
    { page_size: "1000", start_time: since, workflow_name: "airline-agent" },
  );
  expect(results).toHaveLength(1000);
  for (const { prompt_tokens: prompt, completion_tokens: completion, cost, cost_source: source } of results) {
    expect(cost).toBeCloseTo((Number(prompt) * 2.5 + Number(completion) * 10) / 1e6, 9);
    expect(source).toBe("computed");
  }
});

test("people rated, scored and annotated answers, and customers have budgets", async () => {
  const count = async (filters: Row) => (await app.prod.list(filters, { start_time: since })).count;
  expect(await count({ positive_feedback: { value: [false] } })).toBeGreaterThan(10);
  expect(await count({ note: { operator: "isnull", value: [false] } })).toBe(5);
  expect(await count({ is_pinned: { value: [true] } })).toBe(1);
  expect(await count({ "scores__demo-helpfulness": { operator: "gte", value: [1] } })).toBe(68);
  expect((await app.prod.get("/api/users/bluebird-travel/")).json).toMatchObject({
    name: "Bluebird Travel",
    period_budget: 5,
    markup_percentage: 20,
  });
});

test("an error is reported in one sentence", async () => {
  expect(await runDemo(["--url", app.url])).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^An API key is needed/),
  });
  expect(await runDemo(["--url", app.url, "--key", "unknown_key_0123456789"])).toMatchObject({
    code: 1,
    output: expect.stringContaining("does not know this API key"),
  });
  expect(await runDemo(["--url", "http://127.0.0.1:1", "--key", "k"])).toMatchObject({
    code: 1,
    output: expect.stringContaining("Start the server: npm start"),
  });
  expect(await runDemo(["--nonsense"])).toMatchObject({ code: 1, output: expect.stringContaining("npm run demo --") });
});

test("the demo waits when the server limits the rate", async () => {
  const answers = [429, 503, 201];
  const server = createServer((request, response) => {
    request.resume();
    const status = answers.shift() ?? 500;
    response.writeHead(status, { "retry-after": "0.05", "content-type": "application/json" });
    response.end(JSON.stringify({ success_count: 0, error_count: 1, errors: [{ index: 0, error: "no" }] }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const waits: number[] = [];
  const span = { log_type: "chat", span_name: "s", trace_unique_id: "t", span_unique_id: "s" } as const;
  const times = { start_time: "2026-01-01", timestamp: "2026-01-01", latency: 0 };
  const target = { url: `http://127.0.0.1:${port}`, key: "k" };
  const report = await sendSpans(target, [{ ...span, ...times }], (seconds) => waits.push(seconds));
  expect(report).toEqual({ accepted: 0, refused: [{ index: 0, error: "no" }], requests: 1 });
  expect(waits).toEqual([0.05, 0.05]);
  server.close();
});
