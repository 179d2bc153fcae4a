import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startManagementServer, type ManagementServer } from "../../../test/support/management-server.ts";

let server: ManagementServer;
beforeAll(async () => {
  server = await startManagementServer();
});
afterAll(() => server.close());

type Created = { unique_organization_id: string; name: string; keys: { prod: string; test: string } };

describe("creating", () => {
  test("returns an organization with working keys", async () => {
    const { access } = await server.newTenant("admin", true);
    const answer = await server.call("POST", "/api/organizations/", access, { name: " Zoë & Söhne " });
    expect(answer.status).toBe(201);
    const created = answer.body as Created;
    expect(created).toEqual({
      unique_organization_id: expect.stringMatching(/^org_/),
      name: "Zoë & Söhne",
      keys: { prod: expect.stringMatching(/^spw_prod_/), test: expect.stringMatching(/^spw_test_/) },
    });
    for (const environment of ["prod", "test"] as const) {
      expect(await server.call("GET", "/probe/", created.keys[environment])).toMatchObject({
        body: { organization_id: created.unique_organization_id, environment },
      });
    }
  });

  test("creates its first user on request, who is admin of that organization only", async () => {
    const { access } = await server.newTenant("admin", true);
    const body = { name: "Beta", admin_email: "Grace@Beta.example", admin_password: "battery staple" };
    const { unique_organization_id } = (await server.call("POST", "/api/organizations/", access, body)).body as Created;
    const credentials = { email: "grace@beta.example", password: "battery staple" };
    const { body: pair } = await server.call("POST", "/api/auth/login/", undefined, credentials);
    const me = await server.call("GET", "/api/auth/me/", (pair as { access: string }).access);
    expect(me.body).toMatchObject({
      email: "grace@beta.example",
      role: "admin",
      is_instance_admin: false,
      organization: { unique_organization_id, name: "Beta" },
    });
  });

  test("an address that already has an account is 409, and no organization is created", async () => {
    const { access, user } = await server.newTenant("admin", true);
    const before = await server.stores.organizations.list();
    const body = { name: "Gamma", admin_email: user.email, admin_password: "battery staple" };
    const answer = await server.call("POST", "/api/organizations/", access, body);
    expect(answer).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(await server.stores.organizations.list()).toEqual(before);
  });

  test.each([
    [{}, "name"],
    [{ name: "x", admin_email: "a@example.com" }, "admin_password"],
    [{ name: "x", admin_email: "a@example.com", admin_password: "short" }, "admin_password"],
    [{ name: "x", admin_email: "nobody", admin_password: "long enough" }, "admin_email"],
    [{ name: "x", admin_mail: "a@example.com" }, "admin_mail"],
  ])("a body like %j is 400 and names %s", async (body, field) => {
    const { access } = await server.newTenant("admin", true);
    const answer = await server.call("POST", "/api/organizations/", access, body);
    expect(answer).toMatchObject({ status: 400, body: { errors: { [field]: [expect.any(String)] } } });
  });

  test("requires an instance admin: others get 403, keys and strangers 401", async () => {
    const { access, keys } = await server.newTenant("admin");
    const create = (token?: string) => server.call("POST", "/api/organizations/", token, { name: "x" });
    expect(await create(access)).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect(await create(keys.prod)).toMatchObject({ status: 401 });
    expect(await create()).toMatchObject({ status: 401 });
  });
});

describe("changing", () => {
  const change = (access: string, id: string, body: object) =>
    server.call("PATCH", `/api/organizations/${id}/`, access, body);

  test("changes only the given fields, and null resets a value", async () => {
    const { access, id, organization } = await server.newTenant();
    expect((await change(access, id, { retention_days: 30 })).body).toEqual({ ...organization, retention_days: 30 });
    expect((await change(access, id, { name: "New" })).body).toMatchObject({ name: "New", retention_days: 30 });
    expect((await change(access, id, { retention_days: null })).body).toMatchObject({
      name: "New",
      retention_days: null,
    });
    expect(await change(access, id, {})).toMatchObject({ status: 200, body: { name: "New" } });
  });

  test.each([{ retention_days: -1 }, { retention_days: 1.5 }, { retention_days: 36_501 }, { retention_days: "30" }])(
    "%j is 400",
    async (body) => {
      const { access, id } = await server.newTenant();
      const answer = await change(access, id, body);
      expect(answer).toMatchObject({ status: 400, body: { errors: { retention_days: [expect.any(String)] } } });
    },
  );

  test("names a misspelled field, and accepts a body that was read before", async () => {
    const { access, id, organization } = await server.newTenant();
    const answer = await change(access, id, { retention_day: 30 });
    expect(answer).toMatchObject({ status: 400, body: { errors: { retention_day: [expect.any(String)] } } });
    expect(await change(access, id, organization)).toMatchObject({ status: 200, body: organization });
  });

  test("requires an admin of that organization, or of the instance", async () => {
    const mine = await server.newTenant();
    const member = await server.newTenant("member");
    const instanceAdmin = await server.newTenant("admin", true);
    const body = { name: "Taken over" };
    expect(await change(mine.access, member.id, body)).toMatchObject({ status: 403 });
    expect(await change(mine.access, "org_nobody", body)).toMatchObject({ status: 403 });
    expect(await change(member.access, member.id, body)).toMatchObject({ status: 403 });
    expect(await server.stores.organizations.find(member.id)).toEqual(member.organization);
    expect(await change(instanceAdmin.access, member.id, body)).toMatchObject({ status: 200 });
    expect(await change(instanceAdmin.access, "org_nobody", body)).toMatchObject({ status: 404 });
  });
});
