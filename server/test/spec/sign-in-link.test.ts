import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSignInCode } from "../../src/auth/browser-sessions.ts";
import { authLimits } from "../../src/auth/limits.ts";
import { startManagementServer, type ManagementServer } from "../support/management-server.ts";
import { newDataDir, startServerProcess } from "../support/server-process.ts";
import { startTestApp, testAdmin, type TestApp } from "../support/test-app.ts";
import { createClient } from "../support/test-client.ts";

/** Section G of the additions: the link that the first start prints. */

type Headers = Record<string, string>;

let server: ManagementServer;
let app: TestApp;
beforeAll(async () => {
  server = await startManagementServer();
  app = await startTestApp({ SPANWAY_TRUST_PROXY: "1" });
});
afterAll(async () => {
  await server.close();
  await app.stop();
});

describe("the link of the first start", () => {
  test("signs the administrator in once, on this machine; it survives a restart, and only its hash is stored", async () => {
    const folder = newDataDir();
    try {
      const first = await startServerProcess(folder.path);
      const link = /http:\/\/\S+\/sign-in\?code=\w+/.exec(first.output())?.[0] ?? "";
      expect(new URL(link).origin).toBe(first.url);
      // The credentials and the link are one block: there is no log line within.
      expect(first.output()).toMatch(/Spanway is set up[^{}]*\/sign-in\?code=/);
      await first.kill("SIGTERM");
      const second = await startServerProcess(folder.path);
      expect(second.output()).not.toContain("/sign-in?code=");
      const { pathname, search } = new URL(link);
      const open = (headers: Headers = {}) => fetch(second.url + pathname + search, { redirect: "manual", headers });
      const answer = await open();
      expect([answer.status, answer.headers.get("location")]).toEqual([303, "/"]);
      expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
      const cookie = (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      const me = await createClient(second.url).request("GET", "/api/auth/me/", undefined, { cookie });
      expect(me.json).toMatchObject({ email: testAdmin.email, is_instance_admin: true });
      const log = await createClient(second.url).request("GET", "/api/audit-log/?action=sign_in_by_code", undefined, {
        cookie,
      });
      expect(log.json).toMatchObject({ count: 1 });
      const again = await open();
      expect([again.status, again.headers.get("set-cookie")]).toEqual([404, null]);
      await second.kill("SIGTERM");
      expect(second.output()).not.toContain(search.slice(6));
    } finally {
      await rm(folder.path, { recursive: true, force: true });
    }
  });

  const newCode = (userId: string, nowMs = server.clock.ms) =>
    server.stores.transaction((set) => makeSignInCode(set, userId, nowMs));
  const open = (url: string, code: string, headers: Headers = {}) =>
    fetch(`${url}/sign-in?code=${code}`, { redirect: "manual", headers });

  test("works for an hour, and not after a new password or the removal of the person", async () => {
    const { user, id } = await server.newTenant();
    const [old, fresh] = [await newCode(user.id, server.clock.ms - authLimits.signInCodeMs), await newCode(user.id)];
    expect((await open(server.url, old)).status).toBe(404);
    await server.stores.transaction(({ users }) => users.setPassword(user.id, "another hash"));
    expect((await open(server.url, fresh)).status).toBe(404);
    const last = await newCode(user.id);
    await server.stores.transaction(({ users }) => users.remove(id, user.id));
    expect((await open(server.url, last)).status).toBe(404);
  });

  test("signs in one of two who open it concurrently", async () => {
    const { user } = await server.newTenant();
    const code = await newCode(user.id);
    const answers = await Promise.all([open(server.url, code), open(server.url, code)]);
    expect(answers.map(({ status }) => status)).toEqual(expect.arrayContaining([303, 404]));
  });

  test("is refused on another machine, and under another name of this one", async () => {
    for (const headers of [{ "x-forwarded-for": "203.0.113.9" }, { "x-forwarded-host": "rebound.example" }]) {
      expect((await open(app.url, "x", headers)).status).toBe(403);
    }
    expect((await open(app.url, "x")).status).toBe(404);
  });

  test("redirects a browser that follows it again to the password", async () => {
    const answer = await open(app.url, "used", { accept: "text/html" });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/login?link=used"]);
  });

  test("is not used up by HEAD", async () => {
    const { user } = await server.newTenant();
    const code = await newCode(user.id);
    const head = await fetch(`${server.url}/sign-in?code=${code}`, { method: "HEAD", redirect: "manual" });
    expect([head.status, head.headers.get("set-cookie")]).toEqual([303, null]);
    expect((await open(server.url, code)).headers.get("set-cookie")).toContain("session");
  });

  test("cannot be guessed: failures lock it for a while", async () => {
    const statuses = [];
    for (let n = 0; n <= authLimits.loginFailures; n += 1) statuses.push((await open(server.url, "guess")).status);
    expect(statuses.at(-1)).toBe(429);
    const shown = await open(server.url, "guess", { accept: "text/html" });
    expect([shown.status, shown.headers.get("location")]).toEqual([303, "/login?link=throttled"]);
    expect(shown.headers.get("set-cookie")).toBeNull();
    server.clock.ms += authLimits.loginWindowMs;
  });
});
