import { randomUUID } from "node:crypto";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import { hashApiKey } from "../auth/authenticator.ts";
import { acceptInvitation } from "../auth/members.ts";
import { createPasswords } from "../auth/passwords.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { runAdmin } from "./run-admin.ts";

const passwords = createPasswords({ n: 2 ** 10, r: 8, p: 1 });
const now = "2026-03-01T10:00:00.000Z";
const nowMs = () => Date.parse(now);
let stores: ControlStores;
let closeStores: () => Promise<void>;
beforeAll(async () => {
  ({ stores, close: closeStores } = await openMemoryControl());
});
afterAll(() => closeStores());

const neverOpened = () => Promise.reject(new Error("opened a store for nothing"));
const [withQuarantine, recomputeUsage, listUnpriced] = [neverOpened, neverOpened, neverOpened];
const acceptSecretKey = neverOpened;
const open = async () => ({
  context: { stores, passwords, nowMs, withQuarantine, recomputeUsage, listUnpriced, acceptSecretKey },
  close: async () => {},
});
const run = (line: string) => runAdmin(line.split(" "), open);

async function runJson(line: string): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await run(`${line} --json`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Record<string, string>;
}

describe("organizations", () => {
  test("are created with keys that work", async () => {
    const made = await runJson("organizations create --name Acme --id acme");
    expect(made).toMatchObject({ unique_organization_id: "acme", name: "Acme", retention_days: null });
    for (const environment of ["prod", "test"]) {
      const key = await stores.apiKeys.findByHash(hashApiKey(made[`${environment}_key`]!), now);
      expect(key).toMatchObject({ unique_organization_id: "acme", environment });
    }
    expect((await run("organizations list")).stdout).toMatch(/unique_organization_id .*\n.* acme +Acme/);
  });

  test("a taken id is refused", async () => {
    await runJson("organizations create --name Acme --id taken");
    expect(await run("organizations create --name Acme --id taken")).toMatchObject({
      code: 1,
      stderr: "The organization id taken is taken.",
    });
  });

  test("keep spans as long as configured", async () => {
    const { unique_organization_id: id } = await runJson("organizations create --name Acme");
    expect(await runJson(`retention set --organization ${id} --days 30`)).toMatchObject({ retention_days: 30 });
    expect(await runJson(`retention set --organization ${id} --days 0`)).toMatchObject({ retention_days: 0 });
    expect(await runJson(`retention set --organization ${id} --days default`)).toMatchObject({ retention_days: null });
    for (const days of ["-1", "1.5", "36501", "soon"]) {
      expect(await run(`retention set --organization ${id} --days=${days}`)).toMatchObject({ code: 2 });
    }
    expect(await run("retention set --organization nobody --days 1")).toMatchObject({ code: 1 });
  });
});

describe("keys", () => {
  test("are created, listed and revoked", async () => {
    const { unique_organization_id: id } = await runJson("organizations create --name Acme");
    const made = await runJson(
      `keys create --organization ${id} --environment test --name CI --permissions spans:read,analytics:read`,
    );
    const hash = hashApiKey(made["key"]!);
    expect(await stores.apiKeys.findByHash(hash, now)).toMatchObject({ permissions: ["spans:read", "analytics:read"] });
    const listed = (await run(`keys list --organization ${id}`)).stdout;
    expect(listed).toContain(made["id"]);
    expect(listed).not.toContain(made["key"]);

    await runJson(`keys revoke --organization ${id} --id ${made["id"]}`);
    expect(await stores.apiKeys.findByHash(hash, now)).toBeUndefined();
    expect(await run(`keys revoke --organization ${id} --id ${made["id"]}`)).toMatchObject({ code: 1 });
  });

  test("may not manage keys", async () => {
    const { unique_organization_id: id } = await runJson("organizations create --name Acme");
    const line = `keys create --organization ${id} --environment test --name CI --permissions keys:manage`;
    expect(await run(line)).toMatchObject({ code: 2, stderr: expect.stringContaining("--permissions takes") });
  });
});

describe("users", () => {
  test("get a working password, shown only if it was generated", async () => {
    const { unique_organization_id: id } = await runJson("organizations create --name Acme");
    const made = await runJson(`users create --organization ${id} --email Ada@Example.com --role admin`);
    const ada = await stores.users.findByEmail("ada@example.com");
    expect(ada).toMatchObject({ role: "admin", is_instance_admin: false });
    expect(await passwords.verify(made["password"]!, ada?.password_hash)).toBe(true);

    const bob = await runJson(`users create --organization ${id} --email bob@example.com --password secret-of-bob`);
    expect(bob).not.toHaveProperty("password");
    expect(await stores.users.findByEmail("bob@example.com")).toMatchObject({ role: "member" });
    expect((await run(`users list --organization ${id}`)).stdout).toContain("bob@example.com");
  });

  test("a new password ends the sessions", async () => {
    const { unique_organization_id: id } = await runJson("organizations create --name Acme");
    await runJson(`users create --organization ${id} --email eve@example.com --instance-admin`);
    const created_at = now;
    const eveId = (await stores.users.findByEmail("eve@example.com"))!.id;
    const session = {
      id: randomUUID(),
      user_id: eveId,
      sequence: 1,
      created_at,
      expires_at: "2027-01-01T00:00:00.000Z",
      ends_at: null,
    };
    await stores.sessions.create(session);
    expect(await stores.sessions.findUser(session.id, now)).toMatchObject({ id: eveId });
    const { password } = await runJson("users set-password --email Eve@example.com");
    const eve = await stores.users.findByEmail("eve@example.com");
    expect(eve).toMatchObject({ is_instance_admin: true });
    expect(await stores.sessions.findUser(session.id, now)).toBeUndefined();
    expect(await passwords.verify(password!, eve?.password_hash)).toBe(true);
    const bad = await run("users create --organization acme --email bad");
    expect(bad).toMatchObject({ code: 2, stderr: expect.stringMatching(/^--email must be/) });
    expect(await run("users set-password --email nobody@example.com")).toMatchObject({ code: 1 });
    expect(await run("users set-password --email eve@example.com --password short")).toMatchObject({ code: 2 });
  });
});

test("F1: keys create needs no options if there is one organization", async () => {
  const alone = await openMemoryControl();
  const runLine = (line: string) =>
    runAdmin(line.split(" "), async () => ({
      context: {
        stores: alone.stores,
        passwords,
        nowMs,
        withQuarantine,
        recomputeUsage,
        listUnpriced,
        acceptSecretKey,
      },
      close: async () => {},
    }));
  // As on a newcomer's machine where the server has another data folder.
  const early = await runLine("keys create");
  expect(early).toMatchObject({ code: 1, stderr: expect.stringMatching(/no organization yet.*SPANWAY_DATA_DIR/) });
  await runLine("organizations create --name Acme --id acme");
  const made = JSON.parse((await runLine("keys create --json")).stdout) as { environment: string; key: string };
  expect(made.environment).toBe("prod");
  expect(await alone.stores.apiKeys.findByHash(hashApiKey(made.key), now)).toMatchObject({
    unique_organization_id: "acme",
  });
  await runLine("organizations create --name Other --id other");
  expect(await runLine("keys create")).toMatchObject({ code: 2, stderr: expect.stringContaining("--organization") });
  await alone.close();
});

describe("members", () => {
  test("are invited, given roles and removed, with audit entries", async () => {
    const { unique_organization_id: id } = await runJson("organizations create --name Acme");
    await runJson(`users create --organization ${id} --email boss@example.com --role admin`);
    const invited = await runJson(`members invite --organization ${id} --email Joe@example.com --role viewer`);
    expect(invited).toMatchObject({ email: "joe@example.com", role: "viewer" });
    const accepted = { token: invited["invite_token"]!, password_hash: "hash", nowMs: nowMs() };
    expect(await acceptInvitation(stores, accepted)).toMatchObject({ email: "joe@example.com", role: "viewer" });
    expect(await runJson(`members role --organization ${id} --email joe@example.com --role member`)).toMatchObject({
      role: "member",
    });
    const members = (await runJson(`members list --organization ${id}`)) as unknown as Record<string, string>[];
    expect(new Map(members.map(({ email, role, status }) => [email, `${role} ${status}`]))).toEqual(
      new Map([
        ["boss@example.com", "admin active"],
        ["joe@example.com", "member active"],
      ]),
    );
    for (const line of ["members remove", "members role --role viewer"]) {
      const refused = await run(`${line} --organization ${id} --email boss@example.com`);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("last admin") });
    }
    await runJson(`members remove --organization ${id} --email joe@example.com`);
    expect(await run(`members remove --organization ${id} --email joe@example.com`)).toMatchObject({ code: 1 });
    const log = (await runJson(`audit list --organization ${id}`)) as unknown as Record<string, string>[];
    const actions = new Set(log.map(({ action }) => action));
    const expected = ["members invite", "members remove", "members role"];
    expect([...actions].filter((action) => action?.startsWith("members"))).toEqual(expect.arrayContaining(expected));
    expect(JSON.stringify(log)).not.toContain(invited["invite_token"]);
  });

  test("keys expire at the given time", async () => {
    const { unique_organization_id: id } = await runJson("organizations create --name Acme");
    const key = await runJson(`keys create --organization ${id} --environment prod --name CI`);
    const ended = await runJson(`keys expire --organization ${id} --id ${key["id"]} --in 24`);
    expect(ended).toMatchObject({ expires_at: "2026-03-02T10:00:00.000Z", last_used_at: null });
    expect(await run(`keys expire --organization ${id} --id ${key["id"]} --in soon`)).toMatchObject({ code: 2 });
    const unlimited = await runJson(`keys expire --organization ${id} --id ${key["id"]} --in never`);
    expect(unlimited).toMatchObject({ expires_at: null });
  });
});

test("every change of an operator to an organization is in its audit log, without secrets", async () => {
  const { unique_organization_id: id, prod_key } = await runJson("organizations create --name Acme");
  const made = await runJson(`users create --organization ${id} --email ${id}@example.com --role viewer`);
  const changed = await runJson(`users set-password --email ${id}@example.com`);
  await runJson(`organizations block --organization ${id}`);
  await runJson(`organizations unblock --organization ${id}`);
  await runJson(`retention set --organization ${id} --days 30`);
  const { entries } = await stores.auditLog.list(id ?? "", {}, { page: 1, pageSize: 50 });
  const noted = entries.map(({ actor_type, action, target, changes }) => ({ actor_type, action, target, changes }));
  const byOperator = { actor_type: "operator", target: id, changes: {} };
  const ofUser = { ...byOperator, target: made["id"] };
  expect(noted).toHaveLength(6);
  expect(noted).toEqual(
    expect.arrayContaining([
      { ...byOperator, action: "organizations create" },
      { ...ofUser, action: "users create", changes: { email: made["email"], role: "viewer" } },
      { ...ofUser, action: "users set-password" },
      { ...byOperator, action: "organizations block", changes: { blocked_at: now } },
      { ...byOperator, action: "organizations unblock", changes: { blocked_at: null } },
      { ...byOperator, action: "retention set", changes: { retention_days: 30 } },
    ]),
  );
  for (const secret of [prod_key, made["password"], changed["password"]]) {
    expect(JSON.stringify(entries)).not.toContain(secret);
  }
});

describe("help", () => {
  test.each([[[]], [["--help"]], [["nonsense", "--help"]]])("%j lists the commands", async (args) => {
    const { code, stdout } = await runAdmin(args, neverOpened);
    expect(code).toBe(0);
    expect(stdout).toContain("organizations create");
    expect(stdout).toContain("users set-password");
  });

  test("of one kind lists the commands of that kind", async () => {
    const { code, stdout } = await runAdmin(["users", "--help"], neverOpened);
    expect([code, stdout]).toEqual([0, expect.stringContaining("users set-password")]);
    expect(stdout).not.toContain("organizations create");
  });

  test("of a command lists its options", async () => {
    const { code, stdout } = await runAdmin(["keys", "revoke", "--help"], neverOpened);
    expect(code).toBe(0);
    expect(stdout).toMatch(/--organization ID +.*\(required\)/);
  });

  test.each([
    [["keys"], 'no command "keys"'],
    [["keys", "destroy"], 'no command "keys destroy"'],
    [["keys", "list"], "--organization is missing"],
    [["keys", "list", "--organization"], "--organization"],
    [["keys", "list", "--organization="], "--organization is missing"],
    [["keys", "list", "--organization", "a", "b"], "b"],
    [["organizations", "list", "--all"], "--all"],
  ])("%j reports the problem, before a store is opened", async (args, message) => {
    const { code, stdout, stderr } = await runAdmin(args, neverOpened);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });
});

describe("the program", () => {
  const script = fileURLToPath(new URL("../admin.ts", import.meta.url));
  const runProgram = (args: string[], env: Record<string, string>) =>
    promisify(execFile)(process.execPath, [script, ...args], { env });

  test("works on the store of the environment, and keeps its changes between runs", async () => {
    const SPANWAY_DATA_DIR = await mkdtemp(join(tmpdir(), "spanway-admin-"));
    await runProgram(["organizations", "create", "--name", "Acme", "--id", "acme"], { SPANWAY_DATA_DIR });
    const { stdout } = await runProgram(["organizations", "list", "--json"], { SPANWAY_DATA_DIR });
    expect(JSON.parse(stdout)).toMatchObject([{ unique_organization_id: "acme", name: "Acme" }]);
    await rm(SPANWAY_DATA_DIR, { recursive: true });
  });

  test("fails with a message and a code", async () => {
    await expect(runProgram(["organizations", "list"], { SPANWAY_PORT: "x" })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("SPANWAY_PORT must be"),
    });
    await expect(runProgram(["nonsense"], {})).rejects.toMatchObject({ code: 2 });
  });
});
