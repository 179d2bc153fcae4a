import { keyPermissions, permissionsOfRole } from "../../domain/permissions.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
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

test("the key ends after an hour, though it was used a moment before", async () => {
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

test("a key cannot be traded for another", async () => {
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
