import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newDataDir, programEnvironment, programs } from "../support/server-process.ts";
import { startTestApp, testKeys, type TestApp } from "../support/test-app.ts";
import { createClient, type Answer, type Row, type TestClient } from "../support/test-client.ts";
import {
  always,
  bodyOf,
  createSpan,
  listSpans,
  retrieveSpan,
  settle,
  storeSpans,
  summarize,
  sortedValues,
} from "../support/spans.ts";

const dataDir = newDataDir();
let app: TestApp;
let admin: TestClient;
beforeAll(async () => {
  app = await startTestApp({ SPANWAY_DATA_DIR: dataDir.path });
  admin = await app.login();
});
afterAll(async () => {
  await app.stop();
  await dataDir.remove();
});

const keyRoutes = [
  ["POST", "/api/request-logs/"],
  ["POST", "/api/request-logs/create/"],
  ["POST", "/api/request-logs/list/"],
  ["GET", "/api/request-logs/list/"],
  ["GET", "/api/request-logs/0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b/"],
  ["POST", "/api/request-logs/summary/"],
  ["GET", "/api/request-logs/summary/"],
  ["POST", "/api/request-logs/groups/"],
  ["GET", "/api/request-logs/groups/"],
] as const;
const userRoutes = [
  ["GET", "/api/auth/me/"],
  ["GET", "/api/api-keys/"],
  ["POST", "/api/api-keys/"],
  ["DELETE", "/api/api-keys/0b0b0b0b-0b0b-4b0b-8b0b-0b0b0b0b0b0b/"],
  ["POST", "/api/organizations/"],
  ["POST", "/api/temporary-keys/"],
] as const;
const bulkRoute = ["POST", "/api/request-logs/bulk/"] as const;

const anonymous = (): TestClient => createClient(app.url);
const asHeader = (authorization: string) => (authorization === "" ? undefined : { authorization });
const send = (method: string, path: string, headers?: Record<string, string>) =>
  anonymous().request(method, path, method === "POST" ? "{}" : undefined, headers);

/** A token with the claims of a real one, but unsigned. */
const unsignedToken = (token: string): string => {
  const header = Buffer.from(JSON.stringify({ alg: "none", typ: "at+jwt" })).toString("base64url");
  return `${header}.${token.split(".")[1]}.`;
};

describe("401", () => {
  let missing: Answer;
  beforeAll(async () => {
    missing = await send(...bulkRoute);
  });

  test("states that credentials are missing or invalid, and how to send them", () => {
    expect(missing.status).toBe(401);
    expect(missing.json).toEqual({ detail: expect.stringContaining("not provided"), code: "unauthorized" });
    expect(missing.headers.get("www-authenticate")).toBe("Bearer");
  });

  describe.each([...keyRoutes, ...userRoutes, bulkRoute])("%s %s", (method, path) => {
    test.each([
      ["no header", ""],
      ["an unknown key", "Bearer spw_prod_0000000000000000000000"],
      ["a key with one character more", `Bearer ${testKeys.prod}x`],
      ["no scheme", testKeys.prod],
      ["another scheme", `Basic ${Buffer.from(`${testKeys.prod}:`).toString("base64")}`],
      ["a scheme alone", "Bearer"],
      ["two credentials", `Bearer ${testKeys.prod} ${testKeys.prod}`],
      ["a quoted key", `Bearer "${testKeys.prod}"`],
      ["a token of nobody", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.AAAA"],
      ["a very long key", `Bearer ${"x".repeat(8000)}`],
    ])("%s gets the same body", async (_name, authorization) => {
      const answer = await send(method, path, asHeader(authorization));
      expect(answer.status).toBe(401);
      expect(answer.json).toEqual(missing.json);
    });
  });

  test.each([
    ["the query", "/api/request-logs/list/?api_key=KEY&authorization=Bearer%20KEY&token=KEY", {}],
    ["another header", "/api/request-logs/list/", { "x-api-key": "KEY", cookie: "authorization=KEY" }],
  ])("a key in %s is no credential", async (_name, path, headers) => {
    const withKey = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace("KEY", testKeys.prod)]),
    );
    expect((await send("POST", path.replaceAll("KEY", testKeys.prod), withKey)).status).toBe(401);
  });
});

describe("API keys", () => {
  test.each(["Bearer", "bearer", "BEARER", "Api-Key", "api-key"])("are presented by the scheme %s", async (scheme) => {
    const answer = await send("POST", "/api/request-logs/list/", { authorization: `${scheme} ${testKeys.prod}` });
    expect(answer.status).toBe(200);
  });

  test.each([...keyRoutes, bulkRoute])("open %s %s", async (method, path) => {
    const answer = await send(method, path, { authorization: `Bearer ${testKeys.prod}` });
    expect(answer.status).not.toBe(401);
    expect(answer.status).not.toBe(403);
  });

  test.each(userRoutes)("do not open %s %s, which requires a person", async (method, path) => {
    const answer = await send(method, path, { authorization: `Bearer ${testKeys.prod}` });
    expect(answer).toMatchObject({ status: 401, json: { detail: expect.stringContaining("a person's access token") } });
  });

  test("a revoked key is refused from the next request on", async () => {
    const made = bodyOf(await admin.post("/api/api-keys/", { name: "short-lived", environment: "prod" }));
    const key = createClient(app.url, String(made["key"]));
    await createSpan(key, {});
    expect((await admin.request("DELETE", `/api/api-keys/${String(made["id"])}/`)).status).toBe(204);
    expect((await key.post("/api/request-logs/", {})).status).toBe(401);
    expect((await key.post("/api/request-logs/list/")).status).toBe(401);
    expect((await app.prod.post("/api/request-logs/list/")).status).toBe(200);
  });

  test("a key without spans:ingest reads and does not write: 403 naming the permission", async () => {
    const made = await admin.post("/api/api-keys/", {
      name: "reads",
      environment: "test",
      permissions: ["spans:read"],
    });
    const key = createClient(app.url, String(bodyOf(made)["key"]));
    expect((await key.post("/api/request-logs/list/")).status).toBe(200);
    for (const path of ["/api/request-logs/", "/api/request-logs/bulk/"]) {
      const answer = await key.post(path, { logs: [{}] });
      expect(answer).toMatchObject({
        status: 403,
        json: { code: "forbidden", detail: expect.stringContaining("spans:ingest") },
      });
    }
  });
});

describe("access tokens (JWT)", () => {
  test("open the bulk route", async () => {
    expect((await admin.post("/api/request-logs/bulk/", { logs: [{}] })).status).toBe(201);
  });

  test.each(keyRoutes)("do not open %s %s", async (method, path) => {
    const answer = await admin.request(method, path, method === "POST" ? {} : undefined);
    const detail = expect.stringContaining("takes an API key");
    expect(answer).toMatchObject({ status: 401, json: { code: "unauthorized", detail } });
  });

  test("act as their person", async () => {
    expect((await admin.get("/api/auth/me/")).json).toMatchObject({
      email: app.admin.email,
      role: "admin",
      is_instance_admin: true,
      organization: { unique_organization_id: expect.any(String) },
    });
  });

  test("are refused if unsigned, altered, or refresh tokens; a refresh token gets a new pair", async () => {
    const pair = bodyOf(await anonymous().post("/api/auth/login/", app.admin));
    expect(pair).toEqual({ access: expect.any(String), refresh: expect.any(String), expires_in: expect.any(Number) });
    const access = String(pair["access"]);
    const [header, payload, signature] = access.split(".");
    const altered = `${header}.${payload}x.${signature}`;
    for (const token of [unsignedToken(access), altered, String(pair["refresh"])]) {
      expect((await createClient(app.url, token).get("/api/auth/me/")).status).toBe(401);
    }
    const next = await anonymous().post("/api/auth/refresh/", { refresh: pair["refresh"] });
    expect((await createClient(app.url, String(bodyOf(next)["access"])).get("/api/auth/me/")).status).toBe(200);
    expect((await anonymous().post("/api/auth/refresh/", { refresh: access })).status).toBe(401);
  });

  test("are not issued for a wrong password or an unknown address, with the same message", async () => {
    const wrong = await anonymous().post("/api/auth/login/", { ...app.admin, password: "something else" });
    const unknown = await anonymous().post("/api/auth/login/", {
      email: "nobody@example.com",
      password: "something else",
    });
    expect(wrong.status).toBe(401);
    expect(unknown.status).toBe(401);
    expect(unknown.json).toEqual(wrong.json);
  });
});

describe("temporary keys", () => {
  const temporaryKey = async (person: TestClient, environment: string): Promise<TestClient> => {
    const made = await person.post("/api/temporary-keys/", { environment });
    expect(made).toMatchObject({ status: 201, json: { key: expect.any(String), expires_at: expect.any(String) } });
    const expiresMs = Date.parse(String(bodyOf(made)["expires_at"])) - Date.now();
    expect(expiresMs).toBeGreaterThan(0);
    expect(expiresMs).toBeLessThanOrEqual(3_600_000);
    return createClient(app.url, String(bodyOf(made)["key"]));
  };

  test.each(["prod", "test"])("act for a person in %s", async (environment) => {
    const key = await temporaryKey(admin, environment);
    expect(await createSpan(key, { environment: "prod" })).toMatchObject({ environment });
    expect((await key.post("/api/request-logs/groups/?group_by=model")).status).toBe(200);
  });

  test("of a viewer read and group, but write nothing; nor does the viewer's token", async () => {
    const { json } = await admin.get("/api/auth/me/");
    const { organization } = json as { organization: { unique_organization_id: string } };
    const person = { email: "viewer@example.com", password: "a long enough password" };
    await runAdmin(
      "users",
      "create",
      "--organization",
      organization.unique_organization_id,
      "--email",
      person.email,
      "--role",
      "viewer",
      "--password",
      person.password,
    );
    const login = await anonymous().post("/api/auth/login/", person);
    const viewer = createClient(app.url, String(bodyOf(login)["access"]));
    const key = await temporaryKey(viewer, "prod");
    expect((await key.post("/api/request-logs/list/")).status).toBe(200);
    expect((await key.post("/api/request-logs/groups/?group_by=model")).status).toBe(200);
    expect((await key.post("/api/request-logs/", {})).status).toBe(403);
    expect((await viewer.post("/api/request-logs/bulk/", { logs: [{}] })).status).toBe(403);
    expect((await viewer.get("/api/api-keys/")).status).toBe(403);
  });
});

/** The administration tool, run beside a server as operators do. */
function runAdmin(...args: string[]): Promise<unknown> {
  const env = { ...programEnvironment(), SPANWAY_DATA_DIR: dataDir.path };
  return promisify(execFile)(process.execPath, [...programs.admin, ...args], { env });
}

describe("two organisations with the same ids", () => {
  const shared: Row = {
    trace_unique_id: "trace-1",
    span_unique_id: "span-1",
    thread_identifier: "thread-1",
    customer_identifier: "customer-1",
    custom_identifier: "custom-1",
    model: "m",
    prompt_tokens: 1,
    metadata: { plan: "pro" },
  };
  let mine: TestClient;
  let theirs: TestClient;
  let theirTest: TestClient;
  beforeAll(async () => {
    mine = (await app.newOrganization()).prod;
    ({ prod: theirs, test: theirTest } = await app.newOrganization());
    await storeSpans(mine, [{ ...shared, output: "mine", cost: 1 }]);
    await storeSpans(theirs, [{ ...shared, output: "theirs", cost: 10 }]);
    await storeSpans(theirTest, [{ ...shared, output: "their test", cost: 100 }]);
  });

  test.each(Object.keys(shared).filter((field) => field !== "metadata"))(
    "a list by %s contains only the own spans",
    async (field) => {
      const outputs = async (client: TestClient) =>
        sortedValues((await listSpans(client, { [field]: [shared[field]] })).results, "output");
      expect(await outputs(mine)).toEqual(["mine"]);
      expect(await outputs(theirs)).toEqual(["their test", "theirs"]);
    },
  );

  test("sums and groups count only the own spans", async () => {
    expect(await summarize(mine, { metadata__plan: ["pro"] })).toMatchObject({ number_of_requests: 1, total_cost: 1 });
    expect(await summarize(theirs, {})).toMatchObject({ number_of_requests: 2, total_cost: 110 });
    for (const groupBy of ["trace", "thread", "customer_identifier", "model"]) {
      const answer = await mine.post(`/api/request-logs/groups/?${always}&group_by=${groupBy}`);
      expect(answer.json).toMatchObject({ count: 1, results: [{ number_of_requests: 1, total_cost: 1 }] });
    }
  });

  test("no filter reaches the other organisation", async () => {
    const either = { cost: { operator: "gt", value: [0] }, output: { value: ["theirs"], connector: "OR" } };
    expect((await listSpans(mine, either)).results.map((row) => row["output"])).toEqual(["mine"]);
  });

  test("retrieve finds only the own spans", async () => {
    const [row] = (await listSpans(theirs, {}, "environment=prod")).results;
    expect(await retrieveSpan(theirs, row?.["unique_id"])).toMatchObject({ output: "theirs" });
    expect((await mine.get(`/api/request-logs/${String(row?.["unique_id"])}/`)).status).toBe(404);
  });

  test("the prod and the test key of one organisation read the same, and each environment separately", async () => {
    for (const client of [theirs, theirTest]) {
      await settle(client);
      expect((await listSpans(client)).count).toBe(2);
      for (const [environment, output] of [
        ["prod", "theirs"],
        ["test", "their test"],
      ] as const) {
        const { results } = await listSpans(client, {}, `environment=${environment}`);
        expect(results.map((row) => row["output"])).toEqual([output]);
        expect(await retrieveSpan(client, results[0]?.["unique_id"])).toMatchObject({ environment, output });
      }
    }
  });
});

test("a key shows when it was last used, to the minute, however it was sent; a key that nobody used shows null", async () => {
  const made = async (name: string) =>
    (await admin.post("/api/api-keys/", { name, environment: "prod" })).json as { id: string; key: string };
  const [bearer, header, unused] = [await made("bearer"), await made("x-api-key"), await made("unused")];
  const before = Date.now();
  expect((await createClient(app.url, bearer.key).get("/api/request-logs/summary/")).status).toBe(200);
  const sent = { model: "spanway/echo", messages: [{ role: "user", content: "hi" }] };
  const answer = await createClient(app.url).post("/v1/chat/completions", sent, { "x-api-key": header.key });
  expect(answer.status).toBe(200);
  const lastUse = async ({ id }: { id: string }) => {
    const { results } = (await admin.get("/api/api-keys/?page_size=100")).json as { results: Row[] };
    return results.find((key) => key["id"] === id)?.["last_used_at"];
  };
  for (const key of [bearer, header]) {
    await expect.poll(() => lastUse(key), { timeout: 10_000, interval: 200 }).toEqual(expect.any(String));
    const used = Date.parse(String(await lastUse(key)));
    expect([used % 60_000, used >= before - 60_000, used <= Date.now()]).toEqual([0, true, true]);
  }
  expect(await lastUse(unused)).toBeNull();
});
