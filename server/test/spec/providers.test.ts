import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { storageLimits } from "../../src/storage/limits.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type Answer, type TestClient } from "../support/test-client.ts";

/** Provider settings: credentials that organizations store for the gateway. */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const key = "sk-live-0123456789abcdefWXYZ";
const path = "/api/providers/";
const pathOf = (setting: Row): string => `${path}${String(setting["id"])}/`;
type Row = Record<string, unknown>;

async function created(client: TestClient, body: object): Promise<Row> {
  const answer = await client.post(path, body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.json as Row;
}

const listed = async (client: TestClient): Promise<Row[]> =>
  ((await client.get(path)).json as { results: Row[] }).results;

const errorsOf = (answer: Answer): Row => (answer.json as { errors: Row }).errors;

describe("creating", () => {
  test("returns the setting with its defaults, and only the end of the key", async () => {
    const { prod } = await app.newOrganization();
    const answer = await prod.post(path, { provider: "openai", api_key: key });
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      id: expect.any(String),
      provider: "openai",
      name: "openai",
      environment: "prod",
      base_url: null,
      api_version: null,
      region: null,
      access_key_id: null,
      available_models: null,
      exclude_models: [],
      weight: 1,
      is_enabled: true,
      has_secret: true,
      is_readable: true,
      secret_tail: "WXYZ",
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
  });

  test("no response contains a secret", async () => {
    const { prod } = await app.newOrganization();
    const aws = {
      access_key_id: "AKIA0123",
      secret_access_key: "secret/0123456789abcdef",
      session_token: "token-0123456789",
    };
    const setting = await created(prod, { provider: "bedrock", region: "us-east-1", ...aws });
    const changed = await prod.request("PATCH", pathOf(setting), { name: "other", session_token: "token-9876543210" });
    const texts = [
      JSON.stringify(setting),
      changed.text,
      (await prod.get(path)).text,
      (await prod.get(pathOf(setting))).text,
    ];
    for (const text of texts) {
      expect(text).toContain("AKIA0123");
      expect(text).not.toMatch(/secret\/0123|token-/);
    }
  });

  test("accepts every member, and other spellings of providers", async () => {
    const { prod } = await app.newOrganization();
    const members = {
      name: "EU",
      environment: null,
      base_url: "https://eu.example.com",
      api_version: "2024-10-21",
      available_models: ["gpt-4o"],
      exclude_models: ["gpt-4"],
      weight: 0.5,
      is_enabled: false,
    };
    const setting = await created(prod, { provider: "azure_openai", api_key: key, ...members });
    expect(setting).toMatchObject({ provider: "azure", ...members });
    expect((await prod.get(pathOf(setting))).json).toEqual(setting);
  });

  test.each<[object, string]>([
    [{}, "provider"],
    [{ provider: "openai" }, "api_key"],
    [{ provider: "openai", api_key: "" }, "api_key"],
    [{ provider: "openai", api_key: "key\r\nx-other: 1" }, "api_key"],
    [{ provider: "openai", api_key: "naïve" }, "api_key"],
    [{ provider: "openai", api_key: key, environment: "staging" }, "environment"],
    [{ provider: "openai", api_key: key, weight: 0 }, "weight"],
    [{ provider: "openai", api_key: key, available_models: "gpt-4o" }, "available_models"],
    [{ provider: "openai", api_key: key, base_url: "ftp://example.com" }, "base_url"],
    [{ provider: "openai", api_key: key, base_url: "https://user@example.com" }, "base_url"],
    [{ provider: "openai", api_key: key, base_url: "https://example.com/?key=1" }, "base_url"],
    [{ provider: "azure", api_key: key }, "base_url"],
    [{ provider: "my-server", api_key: key }, "base_url"],
    [{ provider: "My Server!", api_key: key, base_url: "https://example.com" }, "provider"],
    [{ provider: "spanway", api_key: key }, "provider"],
    [{ provider: "bedrock", secret_access_key: key, access_key_id: "AKIA" }, "region"],
    [{ provider: "bedrock", secret_access_key: key, region: "us-east-1" }, "access_key_id"],
    [{ provider: "bedrock", access_key_id: "AKIA", region: "us-east-1" }, "secret_access_key"],
    [{ provider: "bedrock", api_key: key, region: "x.attacker.example/" }, "region"],
    [{ provider: "openai", api_key: key, apiKey: key }, "apiKey"],
  ])("%j is 400 and names %s", async (body, field) => {
    const answer = await app.prod.post(path, body);
    expect(answer.status).toBe(400);
    expect(errorsOf(answer)).toHaveProperty([field], [expect.any(String)]);
    expect(answer.text).not.toContain(key);
  });

  test("a custom server needs a base URL and no key", async () => {
    const { prod } = await app.newOrganization();
    const setting = await created(prod, { provider: "my-vllm", base_url: "https://vllm.example.com/v1/" });
    expect(setting).toMatchObject({ base_url: "https://vllm.example.com/v1", has_secret: false, secret_tail: "" });
  });
});

describe("changing", () => {
  test("does not change omitted members", async () => {
    const { prod } = await app.newOrganization();
    const setting = await created(prod, { provider: "openai", api_key: key, weight: 2 });
    const answer = await prod.request("PATCH", pathOf(setting), { name: "Second", environment: "prod" });
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.json).toEqual({ ...setting, name: "Second", environment: "prod", updated_at: expect.any(String) });
    const replaced = await prod.request("PATCH", pathOf(setting), { api_key: "sk-another-0123456789-TAIL" });
    expect(replaced.json).toMatchObject({ secret_tail: "TAIL", name: "Second" });
  });

  test.each<[string, object]>([
    ["another host", { base_url: "https://elsewhere.example.com" }],
    ["another path", { base_url: "https://api.example.com/other" }],
    ["no address", { base_url: null }],
  ])("%s without the key is 400 and changes nothing; with it, it is done", async (_what, change) => {
    const { prod } = await app.newOrganization();
    const setting = await created(prod, { provider: "openai", api_key: key, base_url: "https://api.example.com" });
    const refused = await prod.request("PATCH", pathOf(setting), change);
    expect(refused.status).toBe(400);
    expect(errorsOf(refused)).toEqual({ api_key: [expect.stringContaining("must be sent again")] });
    expect((await prod.get(pathOf(setting))).json).toEqual(setting);
    const done = await prod.request("PATCH", pathOf(setting), { ...change, api_key: key });
    expect(done).toMatchObject({ status: 200, json: change });
  });

  test("K16: a change of the base URL never loses a stored secret silently", async () => {
    const { prod } = await app.newOrganization();
    const secrets = { access_key_id: "AKIA0123", secret_access_key: key, session_token: "token-0123456789" };
    const setting = await created(prod, { provider: "bedrock", region: "us-east-1", ...secrets });
    const patch = (change: object) => prod.request("PATCH", pathOf(setting), change);
    const moved = { base_url: "https://bedrock.example.com" };
    for (const [sent, lost] of [
      [moved, ["secret_access_key", "session_token"]],
      [{ ...moved, session_token: "another-0123456789" }, ["secret_access_key"]],
      [{ ...moved, secret_access_key: key }, ["session_token"]],
      [{ ...moved, api_key: key }, ["secret_access_key", "session_token"]],
    ] as const) {
      const answer = await patch(sent);
      expect([answer.status, Object.keys(errorsOf(answer))]).toEqual([400, lost]);
      expect((await prod.get(pathOf(setting))).json).toEqual(setting);
    }
    expect((await patch({ ...moved, secret_access_key: key, session_token: null })).status).toBe(200);
  });

  test("the same base URL again is not a change", async () => {
    const { prod } = await app.newOrganization();
    const setting = await created(prod, { provider: "openai", api_key: key, base_url: "https://api.example.com" });
    const change = { base_url: "https://API.example.com/", weight: 3 };
    expect(await prod.request("PATCH", pathOf(setting), change)).toMatchObject({ status: 200, json: { weight: 3 } });
  });

  test("the provider cannot change, and a vendor must keep a key", async () => {
    const { prod } = await app.newOrganization();
    const setting = await created(prod, { provider: "openai", api_key: key });
    expect((await prod.request("PATCH", pathOf(setting), { provider: "groq" })).status).toBe(400);
    expect(errorsOf(await prod.request("PATCH", pathOf(setting), { api_key: null }))).toHaveProperty("api_key");
  });
});

test("K6: test calls use prod's settings only if the organization allows it and test has none", async () => {
  const own = await app.newOrganization();
  const admin = await app.login();
  const lab = (model: string) => ({ provider: "lab", base_url: "https://l.example.com", available_models: [model] });
  const reach = async (client: TestClient) =>
    ((await client.get("/api/models")).json as { data: Row[] }).data
      .map(({ id }) => id)
      .filter((id) => String(id).startsWith("lab"));
  const share = (test_uses_prod_providers: unknown) =>
    admin.request("PATCH", `/api/organizations/${own.unique_organization_id}/`, { test_uses_prod_providers });
  await created(own.prod, lab("of-prod"));
  expect([await reach(own.prod), await reach(own.test)]).toEqual([["lab/of-prod"], []]);
  expect(await share(true)).toMatchObject({ status: 200, json: { test_uses_prod_providers: true } });
  expect(await reach(own.test)).toEqual(["lab/of-prod"]);
  const other = await app.newOrganization();
  expect(await reach(other.test)).toEqual([]);
  await created(own.test, lab("of-test"));
  expect([await reach(own.prod), await reach(own.test)]).toEqual([["lab/of-prod"], ["lab/of-test"]]);
  expect((await share("yes")).status).toBe(400);
});

describe("who may", () => {
  test("organizations see and change only their own", async () => {
    const mine = await app.newOrganization();
    const theirs = await app.newOrganization();
    const setting = await created(theirs.prod, { provider: "openai", api_key: key });
    expect(await listed(mine.prod)).toEqual([]);
    for (const [method, body] of [["GET"], ["PATCH", { name: "x" }], ["DELETE"]] as const) {
      expect(await mine.prod.request(method, pathOf(setting), body)).toMatchObject({ status: 404 });
    }
    expect(await listed(theirs.test)).toEqual([setting]);
  });

  test("a key with the permission settings:write, and no person's token", async () => {
    const admin = await app.login();
    expect((await admin.get(path)).status).toBe(401);
    const made = await admin.post("/api/api-keys/", { name: "r", environment: "prod", permissions: ["spans:read"] });
    const reader = createClient(app.url, String((made.json as Row)["key"]));
    expect((await reader.get(path)).status).toBe(403);
    expect((await reader.post(path, { provider: "openai", api_key: key })).status).toBe(403);
    expect((await createClient(app.url).get(path)).status).toBe(401);
  });
});

test("lists are paged, oldest first", async () => {
  const { prod } = await app.newOrganization();
  for (const name of ["a", "b", "c"]) await created(prod, { provider: "openai", api_key: key, name });
  const page = (await prod.get(`${path}?page_size=2&page=2`)).json as { count: number; next: null; results: Row[] };
  expect(page).toMatchObject({ count: 3, next: null });
  expect(new Set((await listed(prod)).map(({ name }) => name))).toEqual(new Set(["a", "b", "c"]));
});

test("deleting is final, and deleting again is 404", async () => {
  const { prod } = await app.newOrganization();
  const setting = await created(prod, { provider: "openai", api_key: key });
  expect((await prod.request("DELETE", pathOf(setting))).status).toBe(204);
  expect((await prod.request("DELETE", pathOf(setting))).status).toBe(404);
  expect((await prod.get(pathOf(setting))).status).toBe(404);
  expect(await listed(prod)).toEqual([]);
});

test("the number per organization is limited", async () => {
  const { prod } = await app.newOrganization();
  const body = { provider: "openai", api_key: key };
  for (let made = 0; made < storageLimits.providerSettings; made += 20) {
    await Promise.all(Array.from({ length: 20 }, () => prod.post(path, body)));
  }
  expect(await prod.post(path, body)).toMatchObject({ status: 409, json: { code: "conflict" } });
});
