import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeUser } from "../../src/auth/make-organization.ts";
import { removeMember } from "../../src/auth/members.ts";
import type { Role } from "../../src/domain/permissions.ts";
import { authLimits } from "../../src/auth/limits.ts";
import { storageLimits } from "../../src/storage/limits.ts";
import { startManagementServer, type ManagementServer } from "../support/management-server.ts";
import { bodyOf, createSpan, settle } from "../support/spans.ts";
import { startTestApp, testAdmin, type TestApp } from "../support/test-app.ts";
import { createClient, type Answer } from "../support/test-client.ts";

/** Section G of the additions: signing in from a browser. */

const hourMs = 3_600_000;
type Headers = Record<string, string>;

let server: ManagementServer;
let app: TestApp;
beforeAll(async () => {
  server = await startManagementServer();
  app = await startTestApp({ SPANWAY_TRUST_PROXY: "1", SPANWAY_CORS_ORIGINS: "https://friend.example" });
});
afterAll(async () => {
  await server.close();
  await app.stop();
});

const prod = { "x-spanway-environment": "prod" };

/** The cookie that a browser stores from `Set-Cookie`. */
function cookieOf(answer: Answer): string {
  return (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

async function signIn(url: string, login: { email: string; password: string }, headers: Headers = {}): Promise<Answer> {
  return createClient(url).post("/api/auth/login/", { ...login, session: true }, headers);
}

/** Sends like a page of the server. */
function page(url: string, cookie: string, more: Headers = {}) {
  const headers = { cookie, origin: url, "sec-fetch-site": "same-origin", ...prod, ...more };
  return {
    get: (path: string, others: Headers = {}) =>
      createClient(url).request("GET", path, undefined, { ...headers, ...others }),
    post: (path: string, body: unknown = {}, others: Headers = {}) =>
      createClient(url).post(path, body, { ...headers, ...others }),
  };
}

/** Sends exactly these headers. */
const send = (method: string, path: string, headers: Headers) =>
  createClient(app.url).request(method, path, method === "GET" ? undefined : {}, headers);

async function newPerson(role: Role = "admin") {
  const tenant = await server.newTenant(role);
  const answer = await signIn(server.url, { email: tenant.user.email, password: tenant.password });
  expect(answer.status).toBe(200);
  return { ...tenant, cookie: cookieOf(answer), browser: page(server.url, cookieOf(answer)) };
}

/** A signed-in member of the app's first organization. */
async function newMember(role: Role) {
  const email = `${randomUUID()}@example.com`;
  const invited = bodyOf(await (await app.login()).post("/api/members/", { email, role }));
  const pathname = `/api/invitations/${String(invited["invite_token"])}/`;
  const login = { email, password: "a long enough password" };
  expect((await createClient(app.url).post(pathname, { password: login.password })).status).toBeLessThan(300);
  const cookie = cookieOf(await signIn(app.url, login));
  return { cookie, browser: page(app.url, cookie) };
}

describe("the cookie", () => {
  test("is set by a login with session: true, inaccessible to scripts and other sites; its id is stored as a hash", async () => {
    const { user, password } = await server.newTenant();
    const answer = await signIn(server.url, { email: user.email, password });
    expect(answer).toMatchObject({ status: 200, json: { expires_in: 12 * 3600, ends_at: expect.any(String) } });
    expect(Object.keys(answer.json as object)).toEqual(["expires_in", "ends_at"]);
    expect(answer.headers.get("set-cookie")).toMatch(
      /^spanway_session=[0-9A-Za-z]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
    );
    const id = cookieOf(answer).slice("spanway_session=".length);
    const now = new Date(server.clock.ms).toISOString();
    expect(await server.stores.sessions.findOfBrowser(id, now)).toBeUndefined();
    const { json } = await page(server.url, cookieOf(answer)).get("/api/auth/me/");
    expect(json).toMatchObject({ id: user.id });
  });

  test.each([
    ["a trusted proxy", { "x-forwarded-proto": "https", "x-forwarded-host": "spanway.example.com" }],
    ["a trusted proxy, to a page", { "x-forwarded-proto": "https", "x-forwarded-host": "a.b", origin: "https://a.b" }],
  ])("is Secure and bound to the host if the request came over TLS, according to %s", async (_, forwarded) => {
    const answer = await signIn(app.url, testAdmin, forwarded);
    const [cookie, ...attributes] = answer.headers.get("set-cookie")?.split("; ") ?? [];
    expect(cookie).toMatch(/^__Host-spanway_session=/);
    expect(attributes).toEqual(["Path=/", "Max-Age=604800", "HttpOnly", "SameSite=Strict", "Secure"]);
    const sent = { ...forwarded, cookie: `other=1; ${cookie}` };
    expect((await send("GET", "/api/auth/me/", sent)).status).toBe(200);
    // A neighbour of the domain can set the name without the prefix: it is ignored there.
    const planted = cookieOf(await signIn(app.url, testAdmin));
    expect((await send("GET", "/api/auth/me/", { ...forwarded, cookie: planted })).status).toBe(401);
  });

  test("is set only on request", async () => {
    const answer = await createClient(app.url).post("/api/auth/login/", testAdmin);
    expect(answer.headers.get("set-cookie")).toBeNull();
    expect(answer.json).toMatchObject({ access: expect.any(String) });
    const wrong = await signIn(app.url, { ...testAdmin, password: "wrong" });
    expect(wrong.status).toBe(401);
    expect(wrong.headers.get("set-cookie")).toBeNull();
  });

  test("never has an id that the browser sent, and ends the browser's previous session", async () => {
    const { browser, cookie, user, password } = await newPerson();
    const fixed = `spanway_session=${"A".repeat(43)}`;
    const login = { email: user.email, password };
    const first = await signIn(server.url, login, { cookie: fixed });
    expect(cookieOf(first)).not.toBe(fixed);
    expect((await page(server.url, fixed).get("/api/auth/me/")).status).toBe(401);
    await signIn(server.url, login, { cookie });
    expect((await browser.get("/api/auth/me/")).status).toBe(401);
    expect((await page(server.url, cookieOf(first)).get("/api/auth/me/")).status).toBe(200);
  });

  test("cannot be requested by a page of another origin, which would sign its visitor in as somebody else", async () => {
    for (const foreign of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
    ]) {
      const answer = await signIn(app.url, testAdmin, foreign);
      expect(answer.status).toBe(403);
      expect(answer.headers.get("set-cookie")).toBeNull();
    }
  });

  test("counts against the limits of logins", async () => {
    const { user, password } = await server.newTenant();
    const login = { email: user.email, password };
    for (let n = 0; n < authLimits.loginFailures; n += 1) await signIn(server.url, { ...login, password: "wrong" });
    expect((await signIn(server.url, login)).status).toBe(429);
    server.clock.ms += authLimits.loginWindowMs;
    expect((await signIn(server.url, login)).status).toBe(200);
  });
});

describe("a session ends", () => {
  test("with its logout, which removes the cookie from the browser; the person's other sessions continue", async () => {
    const { browser, user, password } = await newPerson();
    const other = page(server.url, cookieOf(await signIn(server.url, { email: user.email, password })));
    const answer = await browser.post("/api/auth/logout/");
    expect(answer.status).toBe(204);
    expect(answer.headers.get("set-cookie")).toMatch(/^spanway_session=; Path=\/; Max-Age=0;/);
    expect((await browser.get("/api/auth/me/")).status).toBe(401);
    expect((await other.get("/api/auth/me/")).status).toBe(200);
    expect((await browser.post("/api/auth/logout/")).status).toBe(204);
  });

  test("with a change of the password, in every browser", async () => {
    const { browser, user } = await newPerson();
    await server.stores.transaction(({ users }) => users.setPassword(user.id, "another hash"));
    expect((await browser.get("/api/auth/me/")).status).toBe(401);
  });

  test("with the removal of its person", async () => {
    const { browser, user, id } = await newPerson();
    const password_hash = await server.passwords.hash("x");
    const admin = { unique_organization_id: id, email: `${randomUUID()}@example.com`, role: "admin" } as const;
    await makeUser(server.stores, { ...admin, password_hash, is_instance_admin: false, nowMs: server.clock.ms });
    await removeMember(server.stores, id, user.id);
    expect((await browser.get("/api/auth/me/")).status).toBe(401);
    expect((await browser.get("/probe/")).status).toBe(401);
  });

  test("twelve hours after its last use", async () => {
    const { browser } = await newPerson();
    for (let times = 0; times < 3; times += 1) {
      server.clock.ms += 12 * hourMs - 1;
      expect((await browser.get("/api/auth/me/")).status).toBe(200);
    }
    server.clock.ms += 12 * hourMs;
    expect((await browser.get("/api/auth/me/")).status).toBe(401);
  });

  test("seven days after the login, regardless of use", async () => {
    const { browser } = await newPerson();
    for (let hours = 0; hours < 7 * 24 - 8; hours += 8) {
      server.clock.ms += 8 * hourMs;
      expect((await browser.get("/api/auth/me/")).status).toBe(200);
    }
    server.clock.ms += 8 * hourMs - 1;
    expect((await browser.get("/api/auth/me/")).status).toBe(200);
    server.clock.ms += 1;
    expect((await browser.get("/api/auth/me/")).status).toBe(401);
  });

  test("when its person starts more than the limit: the oldest ends", async () => {
    const { browser, user, password } = await newPerson();
    const password_hash = await server.passwords.hash(password);
    await server.stores.transaction(({ users }) => users.setPassword(user.id, password_hash));
    expect((await browser.get("/api/auth/me/")).status).toBe(401);
    const login = { email: user.email, password };
    const first = page(server.url, cookieOf(await signIn(server.url, login)));
    for (let n = 1; n < storageLimits.sessionsPerUser; n += 1) {
      server.clock.ms += 1;
      await signIn(server.url, login);
    }
    expect((await first.get("/api/auth/me/")).status).toBe(200);
    server.clock.ms += 1;
    await signIn(server.url, login);
    expect((await first.get("/api/auth/me/")).status).toBe(401);
  });
});

describe("a page of the server's own", () => {
  test("calls every kind of route as the role permits, in the environment that it names", async () => {
    const { browser, cookie } = await newMember("member");
    const trace = { trace_unique_id: randomUUID(), span_unique_id: "a" };
    const span = { ...trace, input: "hello", model: "gpt-4o" };
    const made = await browser.post("/api/request-logs/", span, { "x-spanway-environment": "test" });
    expect(made.status).toBe(201);
    await settle(app.test);
    const path = `/api/request-logs/${String(bodyOf(made)["unique_id"])}/`;
    expect((await browser.get(path)).json).toMatchObject({ environment: "test" });
    const found = await browser.post("/api/request-logs/list/?environment=test", { filters: {} });
    expect(found.json).toMatchObject({ results: [expect.objectContaining({ environment: "test" })] });
    expect((await browser.get(`/api/traces/${trace.trace_unique_id}/`)).status).toBe(200);
    expect((await browser.post("/api/traces/list/", { filters: {} })).status).toBe(200);
    expect((await browser.get("/api/members/")).status).toBe(200);
    expect((await browser.get("/api/webhooks/")).status).toBe(200);
    // Objects of an environment are changed from it.
    const removal = (environment: string) => {
      const headers = { cookie, origin: app.url, "x-spanway-environment": environment };
      return createClient(app.url).request("DELETE", `/api/traces/${trace.trace_unique_id}/`, undefined, headers);
    };
    expect((await removal("prod")).status).toBe(403);
    expect((await removal("test")).status).toBe(200);
  });

  test("of a viewer reads, and writes nothing", async () => {
    const { browser } = await newMember("viewer");
    expect((await browser.post("/api/request-logs/list/", { filters: {} })).status).toBe(200);
    for (const path of ["/api/request-logs/", "/api/webhooks/", "/api/chat/completions"]) {
      expect(await browser.post(path, { model: "echo", messages: [] })).toMatchObject({ status: 403 });
    }
    expect(await browser.post("/api/members/", { email: "a@b.c", role: "admin" })).toMatchObject({ status: 403 });
    expect(await browser.get("/api/audit-log/")).toMatchObject({ status: 403 });
  });

  test("sees only its own organization", async () => {
    const { prod: others } = await app.newOrganization();
    const span = await createSpan(others, { input: "secret of another organization", model: "gpt-4o" });
    await settle(others);
    const { browser } = await newMember("admin");
    expect((await browser.get(`/api/request-logs/${String(span["unique_id"])}/`)).status).toBe(404);
    const listed = await browser.post("/api/request-logs/list/", { filters: {} });
    expect(listed.text).not.toContain("secret of another organization");
  });

  test("has the current role of its person", async () => {
    const { browser, user, id } = await newPerson("member");
    await server.stores.transaction(({ users }) => users.setRole(id, user.id, "viewer"));
    const shown = (await browser.get("/probe/")).json as { permissions: string[]; environment: string };
    expect(shown).toMatchObject({ kind: "key", environment: "prod", user_id: user.id });
    expect(shown.permissions).not.toContain("spans:write");
  });

  test("leaves entries in the audit log under its person's name", async () => {
    const { browser, user } = await newPerson();
    server.clock.ms += 1;
    const body = { name: "made in a browser", environment: "test" };
    expect((await browser.post("/api/api-keys/", body)).status).toBe(201);
    const log = (await browser.get("/api/audit-log/")).json as { results: unknown[] };
    const of = { actor_type: "user", actor_id: user.id, actor_name: user.email };
    expect(log.results).toEqual([
      expect.objectContaining({ ...of, action: "create_api_key" }),
      expect.objectContaining({ ...of, action: "login" }),
    ]);
    await browser.post("/api/auth/logout/");
    const again = page(
      server.url,
      cookieOf(await signIn(server.url, { email: user.email, password: "correct horse" })),
    );
    expect((await again.get("/api/audit-log/?action=logout")).json).toMatchObject({ count: 1 });
  });
});

describe("forged requests", () => {
  let cookie: string;
  beforeAll(async () => {
    ({ cookie } = await newMember("admin"));
  });

  const changes: [method: string, path: string][] = [
    ["POST", "/api/request-logs/"],
    ["POST", "/api/request-logs/list/"],
    ["POST", "/api/temporary-keys/"],
    ["PATCH", "/api/members/x/"],
    ["PUT", "/api/webhooks/x/"],
    ["DELETE", "/api/traces/x/"],
    ["POST", "/api/auth/logout/"],
    ["POST", "/v1/chat/completions"],
  ];

  test.each(changes)("%s %s is refused without the header, and without the server's own Origin", async (...to) => {
    const refused = async (headers: Headers, word: string) => {
      const answer = await send(...to, { cookie, ...headers });
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining(word)]);
    };
    const origin = app.url;
    await refused({ origin }, "X-Spanway-Environment is missing");
    await refused(prod, "Origin is missing");
    for (const foreign of [
      "https://evil.example",
      "null",
      `${origin}.evil.example`,
      origin.replace("http", "https"),
      "",
    ]) {
      await refused({ ...prod, origin: foreign }, "Origin");
    }
    await refused({ ...prod, origin, "sec-fetch-site": "same-site" }, "Sec-Fetch-Site");
    // A trusted proxy states the server's origin; the address behind it does not count.
    const proxied = { "x-forwarded-proto": "https", "x-forwarded-host": "a.example", cookie: `__Host-${cookie}` };
    await refused({ ...prod, ...proxied, origin }, "https://a.example");
  });

  test("the origin stated by a trusted proxy is accepted", async () => {
    const proxied = { "x-forwarded-proto": "https", "x-forwarded-host": "a.example", origin: "https://a.example" };
    const list = { ...prod, ...proxied, cookie: `__Host-${cookie}` };
    expect((await send("POST", "/api/request-logs/list/", list)).status).toBe(200);
  });

  test("an unknown environment is 400 and named", async () => {
    for (const method of ["GET", "POST"]) {
      const headers = { cookie, origin: app.url, "x-spanway-environment": "staging" };
      const answer = await send(method, "/api/request-logs/list/", headers);
      expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("X-Spanway-Environment") });
    }
  });

  test("reads need no header, and a page of another origin gets no response", async () => {
    const other = await newMember("viewer");
    const path = "/api/webhooks/";
    expect((await send("GET", path, { cookie: other.cookie })).status).toBe(200);
    const foreign: Headers[] = [{ origin: "https://friend.example" }, { "sec-fetch-site": "cross-site" }];
    for (const headers of foreign) {
      const answer = await send("GET", path, { cookie: other.cookie, ...headers });
      expect(answer.status).toBe(403);
      expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    }
    const preflight = { origin: "https://friend.example", "access-control-request-method": "POST" };
    const allowed = await createClient(app.url).request("OPTIONS", "/api/request-logs/", undefined, preflight);
    expect(allowed.headers.get("access-control-allow-origin")).not.toBeNull();
    expect(allowed.headers.get("access-control-allow-credentials")).toBeNull();
  });

  test("another credential takes precedence: a key works without header and Origin, a wrong key is not replaced by the session", async () => {
    const list = (authorization: string) => send("POST", "/api/request-logs/list/", { cookie, authorization });
    const { prod: others } = await app.newOrganization();
    expect((await list("Bearer test_prod_key_0123456789")).status).toBe(200);
    expect((await list("Bearer nothing")).status).toBe(401);
    await createSpan(others, { input: "of the key", model: "gpt-4o" }, { cookie });
    expect((await others.waitForSpans(1)).results).toHaveLength(1);
    const { access } = (await createClient(app.url).post("/api/auth/login/", testAdmin)).json as { access: string };
    const me = await send("GET", "/api/auth/me/", { cookie, authorization: `Bearer ${access}` });
    expect(me.json).toMatchObject({ email: testAdmin.email });
  });

  test.each([
    "",
    "spanway_session=",
    "spanway_session=..",
    `spanway_session=${"b".repeat(43)}`,
    "a=b; c",
    "xspanway_session=a",
  ])("the cookie %j is no credential", async (sent) => {
    expect((await page(app.url, sent).get("/api/auth/me/")).status).toBe(401);
  });
});
