import { makeUser } from "../../auth/make-organization.ts";
import { permissionsOfRole } from "../../domain/permissions.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startManagementServer, type ManagementServer } from "../../../test/support/management-server.ts";
import { authLimits } from "../../auth/limits.ts";

let server: ManagementServer;
beforeAll(async () => {
  server = await startManagementServer();
});
afterAll(() => server.close());

const pair = { access: expect.any(String), refresh: expect.any(String), expires_in: 900 };

describe("login", () => {
  test("returns working tokens, for any case of the address", async () => {
    const { user, password } = await server.newTenant();
    const credentials = { email: ` ${user.email.toUpperCase()} `, password };
    const answer = await server.call("POST", "/api/auth/login/", undefined, credentials);
    expect(answer).toMatchObject({ status: 200, body: pair });
    const { access } = answer.body as { access: string };
    expect(await server.call("GET", "/probe/", access)).toMatchObject({
      status: 200,
      body: { kind: "user", user_id: user.id },
    });
  });

  test("does not reveal whether the password is wrong or the account unknown", async () => {
    const { user } = await server.newTenant();
    const login = async (email: string) => {
      const answer = await server.call("POST", "/api/auth/login/", undefined, { email, password: "wrong" });
      return { status: answer.status, body: answer.body };
    };
    const wrong = await login(user.email);
    expect(wrong).toMatchObject({ status: 401, body: { code: "unauthorized", detail: expect.any(String) } });
    expect(await login("nobody@example.com")).toEqual(wrong);
  });

  test("is logged on failure: once an hour per account, and a limited number of times a day per organization", async () => {
    const { access, id, user, password } = await server.newTenant();
    const fail = (email: string) => server.call("POST", "/api/auth/login/", undefined, { email, password: "wrong" });
    const failures = async () => {
      const log = await server.call("GET", "/api/audit-log/?action=failed_login&page_size=1000", access);
      return log.body as { count: number; results: unknown[] };
    };
    for (let time = 0; time < 3; time += 1) expect((await fail(user.email)).status).toBe(401);
    expect((await fail("nobody-here@example.com")).status).toBe(401);
    await vi.waitFor(async () => expect((await failures()).count).toBe(1));
    const named = { actor_name: user.email, target: user.id, ip: expect.any(String), request_id: expect.any(String) };
    expect((await failures()).results).toEqual([expect.objectContaining({ ...named, changes: {} })]);

    const password_hash = await server.passwords.hash(password);
    const made = { unique_organization_id: id, password_hash, role: "member", is_instance_admin: false } as const;
    const emails = Array.from(
      { length: authLimits.failedLoginAuditsPerDay + 5 },
      (_, index) => `${index}-${user.email}`,
    );
    for (const email of emails) {
      await makeUser(server.stores, { ...made, email, nowMs: server.clock.ms });
      expect((await fail(email)).status).toBe(401);
    }
    await vi.waitFor(async () => expect((await failures()).count).toBe(authLimits.failedLoginAuditsPerDay));
    // Failures of one organization do not displace those of another from its log.
    const other = await server.newTenant();
    await fail(other.user.email);
    await vi.waitFor(async () => {
      const log = await server.call("GET", "/api/audit-log/?action=failed_login", other.access);
      expect(log.body).toMatchObject({ count: 1 });
    });
    server.clock.ms += 15 * 60_000;
  });

  test("is locked after ten failures, even for the right password", async () => {
    const { user, password } = await server.newTenant();
    const login = (password: string) =>
      server.call("POST", "/api/auth/login/", undefined, { email: user.email, password });
    const failures = await Promise.all(Array.from({ length: 10 }, () => login("wrong")));
    expect(failures.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 401));
    const refused = await login(password);
    expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited", retry_after: 900 } });
    expect(refused.headers.get("retry-after")).toBe("900");
    server.clock.ms += 900_000;
    expect(await login(password)).toMatchObject({ status: 200 });
  });

  test.each([
    [{}, ["email", "password"]],
    [{ email: "ada", password: "x" }, ["email"]],
    [{ email: "a\u0000@example.com", password: "x" }, ["email"]],
    [{ email: "ada@example.com", password: 1 }, ["password"]],
    [{ email: "ada@example.com", password: "x".repeat(1025) }, ["password"]],
  ])("a body like %j is 400 and names the field", async (body, fields) => {
    const answer = await server.call("POST", "/api/auth/login/", undefined, body);
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(Object.keys((answer.body as { errors: object }).errors)).toEqual(fields);
  });
});

describe("refresh", () => {
  test("returns the next pair", async () => {
    const { refresh, user } = await server.newTenant();
    const answer = await server.call("POST", "/api/auth/refresh/", undefined, { refresh });
    expect(answer).toMatchObject({ status: 200, body: pair });
    const { access } = answer.body as { access: string };
    expect(await server.call("GET", "/api/auth/me/", access)).toMatchObject({ status: 200, body: { id: user.id } });
  });

  test("K12: accepts a token once; its second use ends the session, with the pair that its first use returned", async () => {
    const { refresh } = await server.newTenant();
    const trade = (token: string) => server.call("POST", "/api/auth/refresh/", undefined, { refresh: token });
    const next = (await trade(refresh)).body as { access: string; refresh: string };
    expect(next.refresh).not.toBe(refresh);
    expect(await server.call("GET", "/api/auth/me/", next.access)).toMatchObject({ status: 200 });
    expect(await trade(refresh)).toMatchObject({ status: 401 });
    expect(await server.call("GET", "/api/auth/me/", next.access)).toMatchObject({ status: 401 });
    expect(await trade(next.refresh)).toMatchObject({ status: 401 });
  });

  test("accepts no access token, no junk, and no token from before a password change", async () => {
    const { access, refresh, user } = await server.newTenant();
    const refused = { status: 401, body: { code: "unauthorized" } };
    const trade = (token: string) => server.call("POST", "/api/auth/refresh/", undefined, { refresh: token });
    expect(await trade(access)).toMatchObject(refused);
    expect(await trade("junk")).toMatchObject(refused);
    await server.stores.users.setPassword(user.id, "new hash");
    expect(await trade(refresh)).toMatchObject(refused);
    expect(await server.call("GET", "/api/auth/me/", access)).toMatchObject(refused);
  });
});

describe("me", () => {
  test("returns the signed-in user, and no secret", async () => {
    const { access, user, organization } = await server.newTenant("viewer");
    expect(await server.call("GET", "/api/auth/me/", access)).toMatchObject({ status: 200 });
    const { body } = await server.call("GET", "/api/auth/me", access);
    expect(body).toEqual({
      id: user.id,
      email: user.email,
      role: "viewer",
      is_instance_admin: false,
      permissions: [...permissionsOfRole("viewer")],
      organization,
    });
  });

  test("is for people: refresh tokens, strangers and old tokens get the same 401, keys an explanation", async () => {
    const { keys, refresh, access } = await server.newTenant();
    const answers = [];
    for (const token of [undefined, refresh, "junk", "a.b.c", `${access}x`]) {
      answers.push(await server.call("GET", "/api/auth/me/", token));
    }
    server.clock.ms += 15 * 60_000;
    answers.push(await server.call("GET", "/api/auth/me/", access));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await server.call("GET", "/api/auth/me/", keys.prod)).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining("takes a person's access token") },
    });
  });
});
