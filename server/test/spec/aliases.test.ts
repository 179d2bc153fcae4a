import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, testKeys, type TestApp } from "../support/test-app.ts";
import { bodyOf, createSpan, retrieveSpan } from "../support/spans.ts";

let app: TestApp;
let uniqueId: string;
beforeAll(async () => {
  app = await startTestApp();
  uniqueId = String((await createSpan(app.prod, { model: "m" }))["unique_id"]);
  await retrieveSpan(app.prod, uniqueId);
});
afterAll(() => app.stop());

/** Like a client that follows no redirect. */
async function call(method: string, path: string, body: unknown) {
  const response = await fetch(app.url + path, {
    method,
    redirect: "manual",
    headers: { authorization: `Bearer ${testKeys.prod}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

type Operation = {
  name: string;
  /** Methods and paths, each tried with and without its trailing slash. */
  routes: Array<readonly [method: "GET" | "POST", path: string]>;
  query?: string;
  body?: unknown;
  status: number;
  /** Members that distinguish this operation's response from every other. */
  members: string[];
};

const operations: Operation[] = [
  {
    name: "create",
    routes: [
      ["POST", "/api/request-logs"],
      ["POST", "/api/request-logs/create"],
      ["POST", "/request-logs"],
      ["POST", "/request-logs/create"],
    ],
    body: { input: "x" },
    status: 201,
    members: ["unique_id", "organization_id", "message"],
  },
  {
    name: "bulk create",
    routes: [
      ["POST", "/api/request-logs/bulk"],
      ["POST", "/request-logs/bulk"],
    ],
    body: { logs: [{}] },
    status: 201,
    members: ["success_count", "error_count", "errors"],
  },
  {
    name: "list",
    routes: [
      ["POST", "/api/request-logs/list"],
      ["GET", "/api/request-logs/list"],
      ["POST", "/request-logs/list"],
      ["GET", "/request-logs/list"],
    ],
    query: "?page_size=1",
    status: 200,
    members: ["count", "next", "previous", "results"],
  },
  {
    name: "summary",
    routes: [
      ["POST", "/api/request-logs/summary"],
      ["GET", "/api/request-logs/summary"],
      ["POST", "/request-logs/summary"],
      ["GET", "/request-logs/summary"],
    ],
    status: 200,
    members: ["number_of_requests", "avg_tps", "scores"],
  },
  {
    name: "groups",
    routes: [
      ["POST", "/api/request-logs/groups"],
      ["GET", "/api/request-logs/groups"],
      ["POST", "/request-logs/groups"],
      ["GET", "/request-logs/groups"],
    ],
    query: "?group_by=model",
    status: 200,
    members: ["count", "results", "filters_data", "current_filters"],
  },
  {
    name: "list of traces",
    routes: [
      ["POST", "/api/traces/list"],
      ["GET", "/api/traces/list"],
    ],
    status: 200,
    members: ["count", "next", "previous", "results"],
  },
  {
    name: "list of threads",
    routes: [
      ["POST", "/api/log_threads"],
      ["GET", "/api/log_threads"],
    ],
    status: 200,
    members: ["count", "next", "previous", "results", "filters_data"],
  },
  {
    name: "bulk delete of traces",
    routes: [
      ["POST", "/api/traces/bulk"],
      ["POST", "/api/traces/bulk-delete"],
    ],
    body: { filters: { trace_unique_id: ["nothing"] } },
    status: 200,
    members: ["success_count", "deleted_count", "ignored"],
  },
  {
    name: "legacy ingest",
    routes: [
      ["POST", "/api/v1/traces/ingest"],
      ["POST", "/api/integrations/v1/traces/ingest"],
      ["POST", "/api/openai/v1/traces/ingest"],
      ["POST", "/v1/traces/ingest"],
    ],
    body: [{ input: "x" }],
    status: 200,
    members: ["ingested_spans", "errors"],
  },
  {
    name: "list of evaluators",
    routes: [
      ["GET", "/api/evaluators"],
      ["GET", "/evaluators"],
      ["POST", "/api/evaluators/list"],
      ["POST", "/evaluators/list"],
    ],
    status: 200,
    members: ["count", "next", "previous", "results"],
  },
];

const calls = operations.flatMap((operation) =>
  operation.routes.flatMap(([method, path]) =>
    ["", "/"].map((slash) => ({ method, path: path + slash, name: operation.name, operation })),
  ),
);

test.each(calls)("$method $path is $name, without a redirect", async ({ method, path, operation }) => {
  const { query = "", body = {}, status, members } = operation;
  const answer = await call(method, path + query, method === "POST" ? body : undefined);
  expect(answer.status).toBe(status);
  expect(Object.keys(answer.json)).toEqual(expect.arrayContaining(members));
});

describe("retrieve", () => {
  test.each(["/api/request-logs/ID/", "/api/request-logs/ID", "/request-logs/ID/", "/request-logs/ID"])(
    "GET %s",
    async (path) => {
      const answer = await call("GET", path.replace("ID", uniqueId), undefined);
      expect(answer).toMatchObject({ status: 200, json: { unique_id: uniqueId, model: "m" } });
    },
  );
});

describe("every other path", () => {
  test.each(["/livez", "/readyz", "/openapi.json", "/docs", "/metrics"])("%s also works with a slash", async (path) => {
    for (const slash of ["", "/"]) {
      expect((await fetch(app.url + path + slash, { redirect: "manual" })).status).toBe(200);
    }
  });

  test.each(["/api/auth/login", "/api/auth/login/"])("POST %s", async (path) => {
    const answer = await call("POST", path, app.admin);
    expect(answer).toMatchObject({ status: 200, json: { access: expect.any(String) } });
  });

  test.each(["", "/"])("of a person's management, ending in %j", async (slash) => {
    const admin = await app.login();
    expect((await admin.get(`/api/auth/me${slash}`)).status).toBe(200);
    expect((await admin.get(`/api/api-keys${slash}`)).status).toBe(200);
    const made = await admin.post(`/api/api-keys${slash}`, { name: "k", environment: "prod" });
    expect(made.status).toBe(201);
    expect((await admin.request("DELETE", `/api/api-keys/${String(bodyOf(made)["id"])}${slash}`)).status).toBe(204);
    expect((await admin.post(`/api/temporary-keys${slash}`, { environment: "test" })).status).toBe(201);
    expect((await admin.post(`/api/organizations${slash}`, { name: "O" })).status).toBe(201);
  });
});
