import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startWithFullJournal } from "../support/full-journal.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type Answer, type TestClient } from "../support/test-client.ts";
import { bodyOf } from "../support/spans.ts";

let app: TestApp;
let full: TestApp;
let prod: TestClient;
let readOnly: TestClient;
beforeAll(async () => {
  full = await startWithFullJournal();
  app = await startTestApp();
  ({ prod } = app);
  const admin = await app.login();
  const body = { name: "reads", environment: "prod", permissions: ["spans:read"] };
  readOnly = createClient(app.url, String(bodyOf(await admin.post("/api/api-keys/", body))["key"]));
});
afterAll(async () => {
  await app.stop();
  await full.stop();
});

const anonymous = () => createClient(app.url);

type Cause = [status: number, name: string, call: () => Promise<Answer>, code: string, more: object];
const causes: Cause[] = [
  ...["/api/request-logs/", "/api/request-logs/bulk/", "/api/request-logs/list/", "/api/traces/bulk/"].map(
    (path): Cause => [
      400,
      `a body that is no JSON at ${path}`,
      () => prod.post(path, "{"),
      "invalid_request",
      { errors: { body: [expect.any(String)] } },
    ],
  ),
  [
    400,
    "a body that is no object",
    () => prod.post("/api/request-logs/list/", []),
    "invalid_request",
    { errors: { body: [expect.any(String)] } },
  ],
  [
    400,
    "no logs in bulk",
    () => prod.post("/api/request-logs/bulk/", {}),
    "invalid_request",
    { errors: { logs: [expect.any(String)] } },
  ],
  [
    400,
    "an unknown filter",
    () => prod.post("/api/request-logs/list/", { filters: { x: ["y"] } }),
    "invalid_request",
    { errors: { x: [expect.any(String)] } },
  ],
  [
    400,
    "an unsupported group_by",
    () => prod.get("/api/request-logs/groups/?group_by=x"),
    "invalid_request",
    { errors: { group_by: [expect.any(String)] } },
  ],
  [400, "a URL that does not decode", () => prod.get("/api/request-logs/%zz/"), "invalid_request", {}],
  [401, "no credentials", () => anonymous().post("/api/request-logs/", {}), "unauthorized", {}],
  [
    403,
    "a permission that is missing",
    () => readOnly.post("/api/request-logs/groups/?group_by=model"),
    "forbidden",
    {},
  ],
  [404, "an unknown span", () => prod.get("/api/request-logs/nothing/"), "not_found", { error: expect.any(String) }],
  [404, "an unknown path", () => prod.get("/api/nothing/at/all"), "not_found", { error: expect.any(String) }],
  [405, "another method", () => prod.request("DELETE", "/api/request-logs/list/"), "method_not_allowed", {}],
  [
    413,
    "a body over the limit",
    () => prod.post("/api/request-logs/list/", { pad: "x".repeat(2 ** 20) }),
    "payload_too_large",
    {},
  ],
  [
    415,
    "a body of another type",
    () => prod.post("/api/request-logs/list/", "<a/>", { "content-type": "text/xml" }),
    "unsupported_media_type",
    {},
  ],
  [
    415,
    "an unknown coding",
    () => prod.post("/api/request-logs/", "{}", { "content-encoding": "lzma" }),
    "unsupported_media_type",
    {},
  ],
  [
    422,
    "a span that is no object",
    () => prod.post("/api/request-logs/", "[]"),
    "validation_failed",
    { errors: { body: [expect.any(String)] } },
  ],
  [
    422,
    "a field of a wrong type",
    () => prod.post("/api/request-logs/", { model: 1 }),
    "validation_failed",
    { errors: { model: [expect.any(String)] } },
  ],
  [
    422,
    "more than 500 rows",
    () => prod.post("/api/request-logs/bulk/", { logs: Array.from({ length: 501 }, () => ({})) }),
    "too_many_rows",
    { errors: { logs: [expect.any(String)] } },
  ],
  [
    503,
    "a journal without room",
    () => full.prod.post("/api/request-logs/", {}),
    "unavailable",
    { retry_after: expect.any(Number) },
  ],
];

describe.each(causes)("%s for %s", (status, _name, call, code, more) => {
  let answer: Answer;
  beforeAll(async () => {
    answer = await call();
  });

  test("has that status and states the error, for people and for programs", () => {
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(answer.json).toMatchObject({ detail: expect.stringMatching(/\w{3}/), code, ...more });
  });

  test("has a request id, and is not cached", () => {
    expect(answer.headers.get("x-request-id")).toEqual(expect.stringMatching(/^[\w.:/+=@-]+$/));
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("reveals no internals", () => {
    expect(answer.text).not.toMatch(/node_modules|\.ts\b|\bat \w+ \(|SELECT |ClickHouse|sqlite|\/tmp\//i);
  });
});

test("400 responses have a message too, which older clients read", async () => {
  const answer = bodyOf(await prod.post("/api/request-logs/", "{"));
  expect(answer["message"]).toBe(answer["detail"]);
});

test("405 names the methods of the path", async () => {
  const answer = await prod.request("PUT", "/api/request-logs/list/");
  expect(answer.headers.get("allow")?.split(", ").sort()).toEqual(["GET", "HEAD", "POST"]);
  for (const path of ["/api/request-logs/bulk/", "/api/request-logs/create/"]) {
    expect((await prod.get(path)).status).toBe(405);
  }
});

test("503 states when to retry", async () => {
  const answer = await full.prod.post("/api/request-logs/bulk/", { logs: [{}] });
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get("retry-after"))).toBe(bodyOf(answer)["retry_after"]);
});

describe("x-request-id", () => {
  test("is on every response, and different each time", async () => {
    const answers = [
      await prod.post("/api/request-logs/", {}),
      await prod.post("/api/request-logs/list/"),
      await prod.get("/livez"),
      await prod.get("/docs"),
      await prod.get("/metrics"),
      await prod.request("OPTIONS", "/api/request-logs/"),
      await prod.request("HEAD", "/livez"),
    ];
    const ids = answers.map((answer) => answer.headers.get("x-request-id"));
    for (const id of ids) expect(id).toEqual(expect.stringMatching(/^[\w-]{8,}$/));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("is the caller's own if that is valid", async () => {
    const answer = await prod.post("/api/request-logs/", {}, { "x-request-id": "trace-me.42" });
    expect(answer.headers.get("x-request-id")).toBe("trace-me.42");
    const odd = await prod.post("/api/request-logs/", {}, { "x-request-id": "<script>" });
    expect(odd.headers.get("x-request-id")).not.toBe("<script>");
  });
});

describe("no request causes a 500", () => {
  const bodies = [
    "",
    "null",
    "0",
    '"text"',
    "[]",
    "[[]]",
    "{}",
    "{",
    "\u0000",
    '{"filters":null}',
    '{"filters":{"":{}}}',
    '{"filters":{"cost":{"operator":"gt","value":[1e999]}}}',
    '{"filters":{"metadata__x":{"operator":null,"value":{}}}}',
    '{"filters":{"timestamp":{"operator":"gt","value":[-1e18]}}}',
    '{"filters":{"unique_id":["x"],"id":[1]}}',
    '{"filters":{"model":{"operator":"contains","value":["\\ud800"]}}}',
    `{"filters":${"[".repeat(5000)}${"]".repeat(5000)}}`,
    '{"__proto__":{"a":1}}',
    '{"logs":[null,1,"x",[],{"metadata":{"__proto__":{"polluted":true}}}]}',
    '{"logs":{"length":1}}',
    '{"timestamp":"0000-00-00"}',
    '{"timestamp":1e400}',
    '{"cost":1e308}',
    '{"prompt_tokens":1e308}',
    '{"prompt_tokens":9007199254740993}',
    '{"model":"\\u0000"}',
    '{"input":"\\ud800"}',
    '{"embedding":[NaN,Infinity]}',
  ];
  const queries = [
    "",
    "?page=1e9&page_size=1e9",
    "?start_time=-9999999999999999&end_time=99999999999999999999",
    "?sort_by=-&group_by=",
    "?start_time=0001-01-01&end_time=9999-12-31",
    "?include_fields=,,,",
    "?page=1000000&page_size=1000&group_by=model",
    "?[]=1&a[=2&]=3&a[b][c]=d",
    "?%00=%00",
    "?cost[operator]=gt",
    `?${"a=1&".repeat(200)}`,
    "?environment[]=prod",
  ];
  const paths = ["", "list/", "summary/", "groups/", "bulk/", "%F0%9F%92%A9/"];

  test.each(paths)("at /api/request-logs/%s", async (path) => {
    const calls = [
      ...queries.flatMap((query) => [
        { method: "GET", query, body: undefined },
        { method: "POST", query, body: "{}" },
      ]),
      ...bodies.map((body) => ({ method: "POST", query: "", body })),
    ];
    for (const { method, query, body } of calls) {
      const answer = await prod.request(method, `/api/request-logs/${path}${query}`, body);
      if (answer.status >= 500) throw new Error(`${method} ${path}${query} ${body}: ${answer.status} ${answer.text}`);
    }
    expect("polluted" in {}).toBe(false);
    expect((await prod.get("/readyz")).status).toBe(200);
  });
});
