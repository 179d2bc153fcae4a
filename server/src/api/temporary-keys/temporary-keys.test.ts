import { keyPermissions, permissionsOfRole } from "../../domain/permissions.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startManagementServer, type ManagementServer } from "../../../test/support/management-server.ts";

let server: ManagementServer;
beforeAll(async () => {
  server = await startManagementServer();
});
afterAll(() => server.close());

async function trade(access: string, environment: string): Promise<{ key: string; expires_at: string }> {
  const answer = await server.call("POST", "/api/temporary-keys/", access, { environment });
  expect(answer.status).toBe(201);
  return answer.body as { key: string; expires_at: string };
}

test.each(["admin", "viewer"] as const)("an %s gets a key with the permissions of the role", async (role) => {
  const permissions = keyPermissions.filter((permission) => permissionsOfRole(role).has(permission));
  const { access, id, user } = await server.newTenant(role);
  for (const environment of ["prod", "test"]) {
    const { key } = await trade(access, environment);
    const seen = await server.call("GET", "/probe/", key);
    expect(seen).toMatchObject({
      status: 200,
      body: { kind: "key", organization_id: id, environment, organization_key_name: user.email },
    });
    expect((seen.body as { permissions: string[] }).permissions.toSorted()).toEqual(permissions.toSorted());
  }
});

test("the key ends after an hour, even if it was used a moment before", async () => {
  const { access } = await server.newTenant();
  const { key, expires_at } = await trade(access, "prod");
  expect(Date.parse(expires_at) - server.clock.ms).toBe(3_600_000);
  server.clock.ms += 3_599_999;
  expect(await server.call("GET", "/probe/", key)).toMatchObject({ status: 200 });
  server.clock.ms += 1;
  expect(await server.call("GET", "/probe/", key)).toMatchObject({ status: 401 });
});

test("the key is not among the organization's lasting ones", async () => {
  const { access } = await server.newTenant();
  await trade(access, "prod");
  expect(await server.call("GET", "/api/api-keys/", access)).toMatchObject({ status: 200, body: { count: 2 } });
});

test("a key cannot be exchanged for another", async () => {
  const { access } = await server.newTenant();
  const { key } = await trade(access, "prod");
  const answer = await server.call("POST", "/api/temporary-keys/", key, { environment: "prod" });
  expect(answer).toMatchObject({ status: 401 });
});

test("an unknown environment is 400", async () => {
  const { access } = await server.newTenant();
  const answer = await server.call("POST", "/api/temporary-keys/", access, { environment: "all" });
  expect(answer).toMatchObject({ status: 400, body: { errors: { environment: [expect.any(String)] } } });
});

describe("K5: members of other services' temporary keys", () => {
  const make = async (body: object) => {
    const { access } = await server.newTenant();
    return server.call("POST", "/api/temporary-keys/", access, body);
  };
  const uses = async (key: string, count: number) => {
    const answers = [];
    for (let n = 0; n < count; n += 1) answers.push((await server.call("GET", "/probe/", key)).status);
    return answers;
  };

  test("K5: expires_in and expiry_date set the end", async () => {
    const soon = new Date(server.clock.ms + 5_000).toISOString();
    for (const expiry of [{ expires_in: 5 }, { expiry_date: soon }]) {
      const answer = await make({ environment: "prod", ...expiry });
      const { key, expires_at } = answer.body as { key: string; expires_at: string };
      expect(Date.parse(expires_at) - server.clock.ms).toBe(5_000);
      expect(await uses(key, 2)).toEqual([200, 200]);
      server.clock.ms += 5_000;
      expect(await uses(key, 1)).toEqual([401]);
      server.clock.ms -= 5_000;
    }
  });

  test("K5: max_usage limits the number of requests; -1 allows any number", async () => {
    const { key } = (await make({ is_test: true, max_usage: 2 })).body as { key: string };
    expect(await uses(key, 4)).toEqual([200, 200, 401, 401]);
    const unlimited = (await make({ environment: "test", max_usage: -1 })).body as { key: string; max_usage: null };
    expect(unlimited.max_usage).toBeNull();
    expect(await uses(unlimited.key, 5)).toEqual([200, 200, 200, 200, 200]);
  });

  test.each([
    [{ environment: "prod", rate_limit: 10 }, "rate_limit"],
    [{ environment: "prod", spending_limit: 1.5 }, "spending_limit"],
    [{ environment: "prod", max_usage: 0 }, "max_usage"],
    [{ environment: "prod", max_usage: -2 }, "max_usage"],
    [{ environment: "prod", max_usage: "5" }, "max_usage"],
    [{ environment: "prod", expires_in: 0 }, "expires_in"],
    [{ environment: "prod", expires_in: 1e9 }, "expires_in"],
    [{ environment: "prod", expiry_date: "2020-01-01" }, "expiry_date"],
    [{ environment: "prod", expiry_date: "2100-01-01" }, "expiry_date"],
    [{ environment: "prod", expiry_date: "soon" }, "expiry_date"],
    [{ environment: "prod", expiry_date: "2026-03-02", expires_in: 5 }, "expiry_date"],
    [{ environment: "prod", is_test: true }, "is_test"],
    [{ environment: "prod", max_uses: 5 }, "max_uses"],
    [{}, "environment"],
  ])("K5: %j is refused by its name", async (body, field) => {
    expect(await make(body)).toMatchObject({ status: 400, body: { errors: { [field]: [expect.any(String)] } } });
  });

  test("K5: empty values are accepted", async () => {
    const requested = { environment: "prod", rate_limit: null, spending_limit: -1, max_usage: null, expires_in: null };
    expect((await make(requested)).status).toBe(201);
  });
});
