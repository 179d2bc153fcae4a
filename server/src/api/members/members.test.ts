import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KeyPrincipal } from "../../domain/principal.ts";
import { startManagementServer, type Answer, type ManagementServer } from "../../../test/support/management-server.ts";
import { createClient } from "../../../test/support/test-client.ts";

let server: ManagementServer;
beforeAll(async () => {
  server = await startManagementServer();
});
afterAll(() => server.close());

type Row = Record<string, unknown>;
type Invited = { id: string; invite_url: string; invite_token: string };
const password = "a long enough password";

async function invite(access: string, email: string, role = "member"): Promise<Invited> {
  const answer = await server.call("POST", "/api/members/", access, { email, role });
  expect(answer.status).toBe(201);
  return answer.body as Invited;
}

const accept = ({ invite_token }: Pick<Invited, "invite_token">): Promise<Answer> =>
  server.call("POST", `/api/invitations/${invite_token}/`, undefined, { password });

const read = ({ invite_token }: Invited): Promise<Answer> => server.call("GET", `/api/invitations/${invite_token}/`);

async function newMember(access: string, email: string, role = "member") {
  const invited = await invite(access, email, role);
  const pair = (await accept(invited)).body as { access: string; refresh: string };
  const me = (await server.call("GET", "/api/auth/me/", pair.access)).body as { id: string };
  return { ...pair, id: me.id, email };
}

const listOf = async (access: string): Promise<Row[]> =>
  ((await server.call("GET", "/api/members/", access)).body as { results: Row[] }).results;

describe("an invitation", () => {
  test("is a link that makes the person who opens it a member, once", async () => {
    const { access, id } = await server.newTenant();
    const invited = await invite(access, " Ada@Example.com ", "viewer");
    expect(invited).toMatchObject({ email: "ada@example.com", role: "viewer", status: "invited" });
    expect(invited.invite_url).toBe(`${server.url}/invite/${invited.invite_token}`);
    expect((await read(invited)).body).toMatchObject({
      email: "ada@example.com",
      role: "viewer",
      organization_name: "Acme",
    });
    const accepted = await accept(invited);
    expect(accepted).toMatchObject({ status: 201, body: { expires_in: 900 } });
    const me = await server.call("GET", "/api/auth/me/", (accepted.body as { access: string }).access);
    expect(me.body).toMatchObject({ role: "viewer", organization: { unique_organization_id: id } });
    expect((await accept(invited)).status).toBe(404);
    expect((await read(invited)).status).toBe(404);
    const login = await server.call("POST", "/api/auth/login/", undefined, { email: "ADA@example.com", password });
    expect(login.status).toBe(200);
    const members = await listOf(access);
    expect(members).toHaveLength(2);
    expect(members).toContainEqual(expect.objectContaining({ email: "ada@example.com", status: "active" }));
  });

  test.each(["/api/members/", "/api/members", "/api/members/?from=menu", "/api/members?from=menu"])(
    "created by POST %s has a link to the page that accepts it",
    async (path) => {
      const { access } = await server.newTenant();
      const sent = { email: `${crypto.randomUUID()}@example.com` };
      const invited = (await server.call("POST", path, access, sent)).body as Invited;
      expect(invited.invite_url).toBe(`${server.url}/invite/${invited.invite_token}`);
      expect((await read(invited)).status).toBe(200);
    },
  );

  test("makes one member if two accept it at the same moment", async () => {
    const { access } = await server.newTenant();
    const invited = await invite(access, "race@example.com");
    const answers = await Promise.all([accept(invited), accept(invited), accept(invited)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 404, 404]);
  });

  test("ends after a week, on withdrawal, and with the next one for the address", async () => {
    const { access, email, id } = { ...(await server.newTenant()), email: "late@example.com" };
    const first = await invite(access, email);
    const second = await invite(access, email);
    expect((await accept(first)).status).toBe(404);
    expect(await listOf(access)).toHaveLength(2);
    expect((await server.call("DELETE", `/api/members/${second.id}/`, access)).status).toBe(204);
    expect((await accept(second)).status).toBe(404);
    const third = await invite(access, email);
    const before = server.clock.ms;
    server.clock.ms += 7 * 86_400_000;
    expect((await accept(third)).status).toBe(404);
    server.clock.ms = before;
    expect(id).toMatch(/^org_/);
  });

  test.each([
    [{}, "email"],
    [{ email: "nobody" }, "email"],
    [{ email: "a@b.c", role: "owner" }, "role"],
    [{ email: "a@b.c", roles: ["admin"] }, "roles"],
  ])("%j is answered for %s", async (body, field) => {
    const { access } = await server.newTenant();
    const answer = await server.call("POST", "/api/members/", access, body);
    expect(answer).toMatchObject({ status: 400, body: { errors: { [field]: [expect.any(String)] } } });
  });

  test("cannot create instance admins", async () => {
    const { access } = await server.newTenant();
    const sent = { email: "proud@example.com", is_instance_admin: true };
    const answer = await server.call("POST", "/api/members/", access, sent);
    expect(answer).toMatchObject({ status: 201, body: { is_instance_admin: false } });
  });

  test("of a member is 409, a short password and a made-up token are refused", async () => {
    const { access, user } = await server.newTenant();
    expect((await server.call("POST", "/api/members/", access, { email: user.email })).status).toBe(409);
    const { invite_token } = await invite(access, "short@example.com");
    const short = await server.call("POST", `/api/invitations/${invite_token}/`, undefined, { password: "short" });
    expect(short).toMatchObject({ status: 400, body: { errors: { password: [expect.any(String)] } } });
    expect((await accept({ invite_token: "0".repeat(43) })).status).toBe(404);
    expect((await accept({ invite_token })).status).toBe(201);
  });
});

describe("a role", () => {
  test("changes immediately, and ends the temporary keys of the previous role", async () => {
    const { access } = await server.newTenant();
    const member = await newMember(access, "role@example.com");
    const body = { environment: "prod" };
    const { key } = (await server.call("POST", "/api/temporary-keys/", member.access, body)).body as { key: string };
    expect((await server.call("GET", "/probe/", key)).status).toBe(200);
    const changed = await server.call("PATCH", `/api/members/${member.id}/`, access, { role: "viewer" });
    expect(changed).toMatchObject({ status: 200, body: { role: "viewer", email: member.email } });
    expect((await server.call("GET", "/probe/", key)).status).toBe(401);
    const seen = await server.call("GET", "/probe/", member.access);
    expect((seen.body as { permissions: string[] }).permissions).not.toContain("spans:write");
  });

  test("can be changed while the invitation is pending", async () => {
    const { access } = await server.newTenant();
    const invited = await invite(access, "later@example.com", "viewer");
    await server.call("PATCH", `/api/members/${invited.id}/`, access, { role: "admin" });
    const { access: theirs } = (await accept(invited)).body as { access: string };
    expect((await server.call("GET", "/api/auth/me/", theirs)).body).toMatchObject({ role: "admin" });
  });

  test.each(["member", "viewer"])("of %s cannot manage members", async (role) => {
    const { access, user } = await server.newTenant();
    const member = await newMember(access, `${role}-only@example.com`, role);
    for (const [method, path, body] of [
      ["POST", "/api/members/", { email: "x@example.com" }],
      ["PATCH", `/api/members/${member.id}/`, { role: "admin" }],
      ["DELETE", `/api/members/${user.id}/`, undefined],
      ["GET", "/api/audit-log/", undefined],
      ["GET", "/api/api-keys/", undefined],
    ] as const) {
      expect([path, (await server.call(method, path, member.access, body)).status]).toEqual([path, 403]);
    }
    expect((await server.call("GET", "/api/members/", member.access)).status).toBe(role === "member" ? 200 : 403);
  });
});

describe("the last admin", () => {
  test("cannot be demoted or removed; of two admins, only one can be at the same moment", async () => {
    const { access, user } = await server.newTenant();
    const own = `/api/members/${user.id}/`;
    expect((await server.call("PATCH", own, access, { role: "member" })).status).toBe(409);
    expect((await server.call("DELETE", own, access)).status).toBe(409);
    expect((await server.call("PATCH", own, access, { role: "admin" })).status).toBe(200);
    const second = await newMember(access, "second-admin@example.com", "admin");
    const answers = await Promise.all([
      server.call("DELETE", own, second.access),
      server.call("DELETE", `/api/members/${second.id}/`, access),
    ]);
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
  });
});

test("a removed member loses sessions, tokens and temporary keys, and may be invited again", async () => {
  const { access } = await server.newTenant();
  const member = await newMember(access, "gone@example.com");
  const body = { environment: "test" };
  const { key } = (await server.call("POST", "/api/temporary-keys/", member.access, body)).body as { key: string };
  const browser = createClient(server.url);
  const signedIn = await browser.post("/api/auth/login/", { email: member.email, password, session: true });
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const openPage = () => browser.request("GET", "/probe/", undefined, { cookie });
  expect((await openPage()).status).toBe(200);
  expect((await server.call("DELETE", `/api/members/${member.id}/`, access)).status).toBe(204);
  expect((await openPage()).status).toBe(401);
  expect((await server.call("GET", "/api/auth/me/", member.access)).status).toBe(401);
  expect((await server.call("GET", "/probe/", key)).status).toBe(401);
  const refresh = await server.call("POST", "/api/auth/refresh/", undefined, { refresh: member.refresh });
  expect(refresh.status).toBe(401);
  const login = await server.call("POST", "/api/auth/login/", undefined, { email: member.email, password });
  expect(login.status).toBe(401);
  expect((await server.call("DELETE", `/api/members/${member.id}/`, access)).status).toBe(404);
  await newMember(access, member.email);
});

test("members of another organization are not visible, and neither are their addresses", async () => {
  const [own, other] = [await server.newTenant(), await server.newTenant()];
  const path = `/api/members/${other.user.id}/`;
  expect((await server.call("PATCH", path, own.access, { role: "viewer" })).status).toBe(404);
  expect((await server.call("DELETE", path, own.access)).status).toBe(404);
  expect((await listOf(own.access)).map(({ id }) => id)).toEqual([own.user.id]);
  // Only the person who accepts learns that the account exists, not the one who invites.
  const invited = await invite(own.access, other.user.email);
  expect(await accept(invited)).toMatchObject({ status: 409 });
});

describe("signing out", () => {
  test.each([["the refresh token"], ["the access token"]])("K12: by %s ends the session", async (token) => {
    const { access, refresh } = await server.newTenant();
    const isRefresh = token === "the refresh token";
    const logout = () =>
      server.call("POST", "/api/auth/logout/", isRefresh ? undefined : access, isRefresh ? { refresh } : undefined);
    expect((await logout()).status).toBe(204);
    expect((await server.call("GET", "/api/auth/me/", access)).status).toBe(401);
    expect((await server.call("POST", "/api/auth/refresh/", undefined, { refresh })).status).toBe(401);
    expect((await logout()).status).toBe(401);
  });

  test.each(["junk", "a.b.c", ""])("K12: by %j ends none", async (refresh) => {
    const { access } = await server.newTenant();
    expect((await server.call("POST", "/api/auth/logout/", undefined, { refresh })).status).toBe(401);
    expect((await server.call("GET", "/api/auth/me/", access)).status).toBe(200);
  });
});

describe("the audit log", () => {
  const logOf = async (access: string, query = ""): Promise<Row[]> =>
    ((await server.call("GET", `/api/audit-log/${query}`, access)).body as { results: Row[] }).results;

  test("records who did what to whom, when, from where, by which request, and no secret", async () => {
    const { access, user, id } = await server.newTenant();
    const invited = await invite(access, "logged@example.com", "viewer");
    const made = await server.call("POST", "/api/api-keys/", access, { name: "CI", environment: "test" });
    await server.call("PATCH", `/api/organizations/${id}/`, access, { retention_days: 30 });
    await accept(invited);
    const log = await logOf(access);
    expect(log.map(({ action }) => action)).toEqual(
      expect.arrayContaining(["invite_member", "create_api_key", "update_organization", "accept_invitation"]),
    );
    expect(log.find(({ action }) => action === "create_api_key")).toEqual({
      id: expect.any(String),
      created_at: new Date(server.clock.ms).toISOString(),
      actor_type: "user",
      actor_id: user.id,
      actor_name: user.email,
      action: "create_api_key",
      target: (made.body as Row)["id"],
      environment: null,
      changes: { name: null, environment: "test", expires_at: null },
      ip: "127.0.0.1",
      request_id: made.headers.get("x-request-id"),
    });
    const text = JSON.stringify(log);
    for (const secret of [invited.invite_token, (made.body as { key: string }).key, password, access]) {
      expect(text).not.toContain(secret);
    }
  });

  test("names the person behind a temporary key, whatever the key's name", async () => {
    const { access, user, id } = await server.newTenant();
    const sent = { environment: "test", name: "somebody-else@example.com" };
    const { key } = (await server.call("POST", "/api/temporary-keys/", access, sent)).body as { key: string };
    const principal = (await server.call("GET", "/probe/", key)).body as KeyPrincipal;
    const done = { action: "delete_trace", target: "t", organizationId: id, sent: {}, ip: "127.0.0.1", requestId: "r" };
    await server.audit({ ...done, principal });
    const [entry] = await logOf(access, "?action=delete_trace");
    expect(entry).toMatchObject({ actor_type: "user", actor_id: user.id, actor_name: user.email, environment: "test" });
  });

  test("contains performed actions, not refused ones, of the own organization only", async () => {
    const [own, other] = [await server.newTenant(), await server.newTenant()];
    await server.call("POST", "/api/members/", own.access, { email: "bad" });
    await server.call("DELETE", `/api/members/${other.user.id}/`, own.access);
    await invite(other.access, "theirs@example.com");
    expect(await logOf(own.access)).toEqual([]);
  });

  test("can be filtered by actor, action, target and time, and is paged, newest first", async () => {
    const { access, user } = await server.newTenant();
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      server.clock.ms += 1_000;
      ids.unshift((await invite(access, `page-${n}@example.com`)).id);
    }
    expect((await logOf(access, "?page_size=2&page=2")).map(({ target }) => target)).toEqual(ids.slice(2, 4));
    expect(await logOf(access, `?target=${ids[0]}`)).toHaveLength(1);
    expect(await logOf(access, `?actor=${user.email}&action=invite_member`)).toHaveLength(5);
    expect(await logOf(access, "?actor=nobody")).toEqual([]);
    expect(await logOf(access, "?action=delete_member")).toEqual([]);
    const from = new Date(server.clock.ms - 1_000).toISOString();
    expect(await logOf(access, `?start_time=${from}`)).toHaveLength(2);
    expect((await server.call("GET", "/api/audit-log/?page=0", access)).status).toBe(400);
  });

  test("drops old and excess entries", async () => {
    const { access, id } = await server.newTenant();
    await invite(access, "old@example.com");
    server.clock.ms += 1_000;
    const { id: remaining } = await invite(access, "new@example.com");
    await server.stores.auditLog.deleteBefore(id, new Date(server.clock.ms).toISOString());
    expect((await logOf(access)).map(({ target }) => target)).toEqual([remaining]);
  });
});
