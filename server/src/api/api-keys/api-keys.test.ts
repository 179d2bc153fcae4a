import { expandPermissions } from "../../domain/permissions.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startManagementServer, type ManagementServer } from "../../../test/support/management-server.ts";

let server: ManagementServer;
beforeAll(async () => {
  server = await startManagementServer();
});
afterAll(() => server.close());

type Key = { id: string; key: string; permissions: string[] };

async function createKey(access: string, body: object = { name: "CI", environment: "test" }): Promise<Key> {
  const answer = await server.call("POST", "/api/api-keys/", access, body);
  expect(answer.status).toBe(201);
  return answer.body as Key;
}

describe("creating", () => {
  test("returns a key that works in its environment, and shows it once", async () => {
    const { access, id } = await server.newTenant();
    const made = await createKey(access);
    expect(made).toEqual({
      id: expect.any(String),
      name: "CI",
      environment: "test",
      prefix: made.key.slice(0, 13),
      permissions: [
        "spans:write",
        "spans:read",
        "analytics:read",
        "traces:share",
        "traces:delete",
        "customers:write",
        "settings:write",
      ],
      created_at: "2026-03-01T10:00:00.000Z",
      expires_at: null,
      last_used_at: null,
      key: expect.stringMatching(/^spw_test_/),
    });
    expect(await server.call("GET", "/probe/", made.key)).toMatchObject({
      status: 200,
      body: { kind: "key", organization_id: id, environment: "test", organization_key_id: made.id },
    });
    const list = await server.call("GET", "/api/api-keys/", access);
    expect(JSON.stringify(list.body)).toContain(made.id);
    expect(JSON.stringify(list.body)).not.toContain(made.key);
  });

  test("grants the requested permissions and no others", async () => {
    const { access } = await server.newTenant();
    const made = await createKey(access, { name: "r", environment: "prod", permissions: ["spans:read", "spans:read"] });
    expect(made.permissions).toEqual(["spans:read"]);
    const seen = await server.call("GET", "/probe/", made.key);
    expect(seen).toMatchObject({ body: { permissions: [...expandPermissions(["spans:read"])] } });
  });

  test.each([
    [{ environment: "prod" }, "name"],
    [{ name: "  ", environment: "prod" }, "name"],
    [{ name: "a\u0000b", environment: "prod" }, "name"],
    [{ name: "x".repeat(256), environment: "prod" }, "name"],
    [{ name: "x", environment: "staging" }, "environment"],
    [{ name: "x", environment: "prod", permissions: [] }, "permissions"],
    [{ name: "x", environment: "prod", permissions: ["keys:manage"] }, "permissions.0"],
    [{ name: "x", environment: "prod", expires_at: "" }, "expires_at"],
    [{ name: "x", environment: "prod", expires_at: "2026-02-30" }, "expires_at"],
    [{ name: "x", environment: "prod", expires_at: "2026-03-01T10:00:00Z" }, "expires_at"],
    [{ name: "x", environment: "prod", expires_in: 3600 }, "expires_in"],
    [{ name: "x", environment: "prod", expiry_date: "2100-01-01" }, "expiry_date"],
    [{ name: "x", environment: "prod", permission: ["spans:read"] }, "permission"],
  ])("a body like %j is 400 and names %s", async (body, field) => {
    const { access } = await server.newTenant();
    const answer = await server.call("POST", "/api/api-keys/", access, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ errors: { [field]: [expect.any(String)] } });
  });
});

describe("listing", () => {
  test("pages through the organization's own keys, oldest first", async () => {
    const { access } = await server.newTenant();
    await createKey((await server.newTenant()).access);
    const names = ["Default prod key", "Default test key"];
    const first = await server.call("GET", "/api/api-keys/?page_size=1", access);
    expect(first.body).toMatchObject({ count: 2, previous: null, next: expect.stringContaining("page=2") });
    const { next, results } = first.body as { next: string; results: { name: string }[] };
    const second = await server.call("GET", next.slice(server.url.length), access);
    expect(second.body).toMatchObject({ count: 2, next: null, previous: expect.stringContaining("page=1") });
    const found = [...results, ...(second.body as { results: { name: string }[] }).results];
    expect(found.map(({ name }) => name).toSorted()).toEqual(names);
    expect(await server.call("GET", "/api/api-keys/?page=9", access)).toMatchObject({
      status: 200,
      body: { results: [] },
    });
  });
});

describe("revoking", () => {
  test("applies to the next request, cached or not", async () => {
    const { access } = await server.newTenant();
    const { id, key } = await createKey(access);
    expect(await server.call("GET", "/probe/", key)).toMatchObject({ status: 200 });
    expect(await server.call("DELETE", `/api/api-keys/${id}/`, access)).toMatchObject({ status: 204, body: undefined });
    expect(await server.call("GET", "/probe/", key)).toMatchObject({ status: 401 });
    expect(await server.call("DELETE", `/api/api-keys/${id}/`, access)).toMatchObject({ status: 404 });
    expect(JSON.stringify((await server.call("GET", "/api/api-keys/", access)).body)).not.toContain(id);
  });

  test("another organization's key is 404 and continues to work", async () => {
    const mine = await server.newTenant();
    const theirs = await server.newTenant();
    const { id, key } = await createKey(theirs.access);
    expect(await server.call("DELETE", `/api/api-keys/${id}/`, mine.access)).toMatchObject({ status: 404 });
    expect(await server.call("GET", "/probe/", key)).toMatchObject({ status: 200 });
  });

  test.each(["junk", "%00", "1"])("an id like %s is 404", async (id) => {
    const { access } = await server.newTenant();
    expect(await server.call("DELETE", `/api/api-keys/${id}/`, access)).toMatchObject({ status: 404 });
  });
});

test.each(["member", "viewer"] as const)("a %s may not manage keys", async (role) => {
  const { access } = await server.newTenant(role);
  const body = { name: "CI", environment: "test" };
  const denied = { status: 403, body: { code: "forbidden" } };
  expect(await server.call("POST", "/api/api-keys/", access, body)).toMatchObject(denied);
  expect(await server.call("GET", "/api/api-keys/", access)).toMatchObject(denied);
  expect(await server.call("DELETE", `/api/api-keys/${crypto.randomUUID()}/`, access)).toMatchObject(denied);
});

test("an API key may not manage keys", async () => {
  const { keys } = await server.newTenant();
  expect(await server.call("GET", "/api/api-keys/", keys.prod)).toMatchObject({ status: 401 });
});

describe("an expiry", () => {
  test("can be set on creation or later, and removed again", async () => {
    const { access } = await server.newTenant();
    const soon = new Date(server.clock.ms + 60_000).toISOString();
    const made = await createKey(access, { name: "soon", environment: "prod", expires_at: soon });
    expect(made).toMatchObject({ expires_at: soon });
    const remaining = await createKey(access, { name: "kept", environment: "prod" });
    const change = (id: string, body: object) => server.call("PATCH", `/api/api-keys/${id}/`, access, body);
    expect(await change(remaining.id, { expires_at: soon, name: "ends" })).toMatchObject({
      status: 200,
      body: { id: remaining.id, name: "ends", expires_at: soon },
    });
    expect(await change(made.id, { expires_at: null })).toMatchObject({ body: { name: "soon", expires_at: null } });
    server.clock.ms += 60_000;
    expect((await server.call("GET", "/probe/", made.key)).status).toBe(200);
    expect((await server.call("GET", "/probe/", remaining.key)).status).toBe(401);
    expect((await change(remaining.id, { expires_at: null })).status).toBe(404);
  });

  test("the permissions of a key cannot be changed", async () => {
    const { access } = await server.newTenant();
    const { id, permissions } = await createKey(access);
    const sent = { permissions: ["spans:read"], environment: "prod" };
    const answer = await server.call("PATCH", `/api/api-keys/${id}/`, access, sent);
    expect(answer).toMatchObject({ status: 200, body: { permissions, environment: "test" } });
  });

  test.each([
    [{ expires_at: "2020-01-01" }, "expires_at"],
    [{ expires_at: "soon" }, "expires_at"],
    [{ until: "2027-01-01" }, "until"],
  ])("%j is answered for %s", async (body, field) => {
    const { access } = await server.newTenant();
    const { id } = await createKey(access);
    const answer = await server.call("PATCH", `/api/api-keys/${id}/`, access, body);
    expect(answer).toMatchObject({ status: 400, body: { errors: { [field]: [expect.any(String)] } } });
  });
});
