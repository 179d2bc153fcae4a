import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authLimits } from "../../src/auth/limits.ts";
import { startManagementServer, type ManagementServer } from "../support/management-server.ts";
import { createClient, type Answer } from "../support/test-client.ts";

/** How people manage their own password and sessions. */

type Session = { id: string; kind: string; is_current: boolean };

let server: ManagementServer;
beforeAll(async () => {
  server = await startManagementServer();
});
afterAll(() => server.close());

const oldPassword = "correct horse";
const newPassword = "another correct horse";

/** Sends like a page of the server, with these cookies. */
function browser(cookie: string) {
  const headers = { cookie, origin: server.url, "x-spanway-environment": "prod" };
  return (method: string, path: string, body?: unknown): Promise<Answer> =>
    createClient(server.url).request(method, path, body, headers);
}

async function signIn(email: string, password: string): Promise<Answer> {
  return createClient(server.url).post("/api/auth/login/", { email, password, session: true });
}

const cookieOf = (answer: Answer): string => (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
const sessionsOf = (answer: Answer): Session[] => (answer.json as { results: Session[] }).results;
const change = (current: string) => ({ current_password: current, new_password: newPassword });
const me = "/api/auth/me/";

async function newPerson() {
  const tenant = await server.newTenant();
  const cookie = cookieOf(await signIn(tenant.user.email, oldPassword));
  return { ...tenant, cookie, send: browser(cookie) };
}

describe("a change of the password", () => {
  test("ends all sessions, and starts a new one; only the new password signs in", async () => {
    const { access, refresh, send, user } = await newPerson();
    const answer = await send("POST", "/api/auth/password/", change(oldPassword));
    expect(answer).toMatchObject({ status: 200, json: { ends_at: expect.any(String) } });
    expect(answer.headers.get("set-cookie")).toContain("HttpOnly; SameSite=Strict");
    expect((await browser(cookieOf(answer))("GET", me)).json).toMatchObject({ id: user.id });
    expect((await send("GET", me)).status).toBe(401);
    expect((await server.call("GET", me, access)).status).toBe(401);
    expect((await server.call("POST", "/api/auth/refresh/", undefined, { refresh })).status).toBe(401);
    expect((await signIn(user.email, oldPassword)).status).toBe(401);
    expect((await signIn(user.email, newPassword)).status).toBe(200);
  });

  test("with a token returns the next pair", async () => {
    const { access } = await server.newTenant("viewer");
    const answer = await server.call("POST", "/api/auth/password/", access, change(oldPassword));
    expect(answer).toMatchObject({ status: 200, body: { access: expect.any(String), refresh: expect.any(String) } });
    const { access: next } = answer.body as { access: string };
    expect((await server.call("GET", me, next)).status).toBe(200);
  });

  test("is audited, without the passwords", async () => {
    const { send } = await newPerson();
    const next = browser(cookieOf(await send("POST", "/api/auth/password/", change(oldPassword))));
    const log = await next("GET", "/api/audit-log/?action=change_password");
    expect(log.json).toMatchObject({
      count: 1,
      results: [{ changes: { current_password: null, new_password: null } }],
    });
  });

  test("with a wrong current password names the field, is audited, and counts as a failed sign-in", async () => {
    const { send, user } = await newPerson();
    for (let n = 0; n < authLimits.loginFailures; n += 1) {
      const answer = await send("POST", "/api/auth/password/", change("wrong"));
      expect(answer).toMatchObject({ status: 400, json: { errors: { current_password: [expect.any(String)] } } });
    }
    expect((await send("POST", "/api/auth/password/", change(oldPassword))).status).toBe(429);
    expect((await signIn(user.email, oldPassword)).status).toBe(429);
    expect((await send("GET", "/api/audit-log/?action=failed_login")).json).toMatchObject({ count: 1 });
    server.clock.ms += authLimits.loginWindowMs;
  });

  test("to a short password names the field in words", async () => {
    const { send } = await newPerson();
    const answer = await send("POST", "/api/auth/password/", { current_password: oldPassword, new_password: "short" });
    expect(answer).toMatchObject({
      status: 400,
      json: { errors: { new_password: ["must have at least 8 characters"] } },
    });
  });

  test.each([
    ["a blank one", " ".repeat(12), "must not be blank"],
    ["the one it was", oldPassword, "must differ from the current password"],
  ])("to %s is refused, and changes nothing", async (_what, new_password, problem) => {
    const { send } = await newPerson();
    const answer = await send("POST", "/api/auth/password/", { current_password: oldPassword, new_password });
    expect(answer).toMatchObject({ status: 400, json: { errors: { new_password: [problem] } } });
    expect((await send("GET", me)).status).toBe(200);
  });

  test.each(["\ud800", "\udfff", "\ufffd"])("with %j, which is not a whole character, is refused", async (half) => {
    const { send } = await newPerson();
    const body = { current_password: oldPassword, new_password: `${half}${newPassword}` };
    const answer = await send("POST", "/api/auth/password/", body);
    expect(answer).toMatchObject({
      status: 400,
      json: { errors: { new_password: [expect.stringContaining("half")] } },
    });
  });

  test("requires a page of the server, and accepts no key", async () => {
    const { cookie, keys } = await newPerson();
    const foreign = { cookie, origin: "https://evil.example", "x-spanway-environment": "prod" };
    const answer = await createClient(server.url).post("/api/auth/password/", change(oldPassword), foreign);
    expect(answer.status).toBe(403);
    const [key] = Object.values(keys);
    expect((await server.call("POST", "/api/auth/password/", String(key), change(oldPassword))).status).toBe(401);
  });
});

describe("a person's sessions", () => {
  test("are listed, newest first, and can be ended one by one", async () => {
    const { send, user, access } = await newPerson();
    server.clock.ms += 1;
    const elsewhere = browser(cookieOf(await signIn(user.email, oldPassword)));
    const listed = sessionsOf(await send("GET", "/api/auth/sessions/"));
    const shown = listed.map(({ kind, is_current }) => ({ kind, is_current }));
    expect(shown[0]).toEqual({ kind: "browser", is_current: false });
    expect(shown).toContainEqual({ kind: "browser", is_current: true });
    expect(shown).toContainEqual({ kind: "token", is_current: false });
    expect(shown).toHaveLength(3);

    const ofToken = (await server.call("GET", "/api/auth/sessions/", access)).body as { results: Session[] };
    expect(ofToken.results.filter((each) => each.is_current).map(({ kind }) => kind)).toEqual(["token"]);

    const path = `/api/auth/sessions/${listed[0]?.id}/`;
    expect((await send("DELETE", path)).status).toBe(204);
    expect((await elsewhere("GET", me)).status).toBe(401);
    expect((await send("GET", me)).status).toBe(200);
    expect((await send("DELETE", path)).status).toBe(404);
  });

  test("cannot be seen or ended by others", async () => {
    const [one, other] = [await newPerson(), await newPerson()];
    const [session] = sessionsOf(await one.send("GET", "/api/auth/sessions/"));
    const seen = sessionsOf(await other.send("GET", "/api/auth/sessions/"));
    expect(seen.map(({ id }) => id)).not.toContain(session?.id);
    expect((await other.send("DELETE", `/api/auth/sessions/${session?.id}/`)).status).toBe(404);
    expect((await one.send("GET", me)).status).toBe(200);
  });
});

describe("several cookies of one name", () => {
  test("sign in if any of them is a session, in any order", async () => {
    const { cookie, user } = await newPerson();
    const stale = `spanway_session=${"A".repeat(43)}`;
    for (const cookies of [`${stale}; ${cookie}`, `${cookie}; ${stale}`, `spanway_session=; ${cookie}`]) {
      expect((await browser(cookies)("GET", me)).json).toMatchObject({ id: user.id });
    }
    expect((await browser(`${stale}; ${cookie}`)("POST", "/api/auth/logout/", {})).status).toBe(204);
    expect((await browser(cookie)("GET", me)).status).toBe(401);
  });
});
