import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import { expandPermissions, permissionsOfRole, type Permission, type Role } from "../domain/permissions.ts";
import { Secret } from "../lib/secret.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { createAuthenticator } from "./authenticator.ts";
import { makeOrganization, makeUser } from "./make-organization.ts";
import { hashApiKey, makeApiKey } from "./make-api-key.ts";
import { createTokens } from "./tokens.ts";

const startMs = Date.parse("2026-03-01T10:00:00.000Z");
let stores: ControlStores;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ stores, close } = await openMemoryControl());
});
afterAll(() => close());

/** A node of its own, with a clock that can be moved and a count of its look-ups. */
function newNode() {
  const node = { nowMs: startMs, lookups: 0, failing: false };
  const tokens = createTokens(new Secret("a secret of the instance"), () => node.nowMs);
  const authenticator = createAuthenticator({
    apiKeys: {
      findByHash: async (hash, now) => {
        node.lookups += 1;
        if (node.failing) throw new Error("connection refused");
        return stores.apiKeys.findByHash(hash, now);
      },
    },
    users: stores.users,
    tokens,
    nowMs: () => node.nowMs,
  });
  return Object.assign(node, {
    tokens,
    forgetKey: authenticator.forgetKey,
    key: async (token: string) => authenticator.authenticate({ scheme: "key", token }),
    jwt: async (token: string) => authenticator.authenticate({ scheme: "jwt", token }),
  });
}

const newOrganization = () => makeOrganization(stores, { name: "Acme", nowMs: startMs });

async function newKey(
  unique_organization_id: string,
  fields: { expires_at?: string; permissions?: Permission[] } = {},
  secret?: string,
) {
  const base = { name: "CI", environment: "test", permissions: [], user_id: null, expires_at: null } as const;
  const made = makeApiKey(
    { ...base, permissions: ["spans:read"], unique_organization_id, createdAtMs: startMs, ...fields },
    secret,
  );
  await stores.apiKeys.create(made.record);
  return made;
}

describe("API keys", () => {
  test("become the principal of their organization, environment and permissions", async () => {
    const { organization } = await newOrganization();
    const { secret, record } = await newKey(organization.unique_organization_id);
    expect(secret).toMatch(/^spw_test_[0-9A-Za-z]{32}$/);
    expect(await newNode().key(secret)).toEqual({
      kind: "key",
      organization_id: organization.unique_organization_id,
      environment: "test",
      organization_key_id: record.id,
      organization_key_name: "CI",
      permissions: expandPermissions(["spans:read"]),
    });
  });

  test("of two organizations lead to two", async () => {
    const first = await newOrganization();
    const second = await newOrganization();
    const node = newNode();
    expect(await node.key(first.keys.prod)).toMatchObject({
      organization_id: first.organization.unique_organization_id,
      environment: "prod",
    });
    expect(await node.key(second.keys.test)).toMatchObject({
      organization_id: second.organization.unique_organization_id,
      environment: "test",
    });
  });

  test("that the operator chose work as they are", async () => {
    const { organization } = await newOrganization();
    const { record } = await newKey(organization.unique_organization_id, {}, "0123456789abcde!");
    expect(record.prefix).toBe("01234");
    expect(await newNode().key("0123456789abcde!")).toMatchObject({ organization_key_id: record.id });
  });

  test("are looked up once, however many ask at once", async () => {
    const { keys } = await newOrganization();
    const node = newNode();
    const principals = await Promise.all(Array.from({ length: 50 }, () => node.key(keys.prod)));
    expect(new Set(principals).size).toBe(1);
    await node.key(keys.prod);
    expect(node.lookups).toBe(1);
  });

  test("unknown ones are looked up once, too", async () => {
    const node = newNode();
    expect(await node.key("no such key")).toBeUndefined();
    expect(await node.key("no such key")).toBeUndefined();
    expect(node.lookups).toBe(1);
  });

  test("a flood of unknown ones pushes out none that is known", async () => {
    const { keys } = await newOrganization();
    const node = newNode();
    await node.key(keys.prod);
    for (let made = 0; made < 11_000; made += 1) await node.key(`unknown ${made}`);
    const { lookups } = node;
    expect(await node.key(keys.prod)).toBeDefined();
    expect(node.lookups).toBe(lookups);
  });

  test("a revoked one is refused at once on this node, and within 30 s on the others", async () => {
    const { organization } = await newOrganization();
    const { secret, record } = await newKey(organization.unique_organization_id);
    const [here, there] = [newNode(), newNode()];
    expect(await here.key(secret)).toBeDefined();
    expect(await there.key(secret)).toBeDefined();

    const hash = await stores.apiKeys.revoke(organization.unique_organization_id, record.id, record.created_at);
    here.forgetKey(hash!);

    expect(await here.key(secret)).toBeUndefined();
    there.nowMs += 30_000;
    expect(await there.key(secret)).toBeUndefined();
  });

  test("one that was revoked while it was being looked up is not kept", async () => {
    const { organization } = await newOrganization();
    const { secret, record } = await newKey(organization.unique_organization_id);
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const authenticator = createAuthenticator({
      apiKeys: {
        findByHash: async (hash, now) => {
          const found = await stores.apiKeys.findByHash(hash, now);
          await held;
          return found;
        },
      },
      users: stores.users,
      tokens: newNode().tokens,
      nowMs: () => startMs,
    });
    const early = authenticator.authenticate({ scheme: "key", token: secret });
    await stores.apiKeys.list(organization.unique_organization_id);
    await stores.apiKeys.revoke(organization.unique_organization_id, record.id, record.created_at);
    authenticator.forgetKey(record.hash);
    release();
    await early;
    expect(await authenticator.authenticate({ scheme: "key", token: secret })).toBeUndefined();
  });

  test("one that was made after it had been refused works at once on this node", async () => {
    const { organization } = await newOrganization();
    const node = newNode();
    const secret = randomUUID();
    expect(await node.key(secret)).toBeUndefined();
    await newKey(organization.unique_organization_id, {}, secret);
    node.forgetKey(hashApiKey(secret));
    expect(await node.key(secret)).toBeDefined();
  });

  test("a temporary one ends on time though it is cached", async () => {
    const { organization } = await newOrganization();
    const expires_at = new Date(startMs + 5_000).toISOString();
    const { secret } = await newKey(organization.unique_organization_id, { expires_at });
    const node = newNode();
    expect(await node.key(secret)).toBeDefined();
    node.nowMs = startMs + 4_999;
    expect(await node.key(secret)).toBeDefined();
    node.nowMs = startMs + 5_000;
    expect(await node.key(secret)).toBeUndefined();
  });

  test("while the store is down, known ones work, others are told to come back, and nothing of it is kept", async () => {
    const { keys } = await newOrganization();
    const node = newNode();
    await node.key(keys.prod);
    node.failing = true;
    expect(await node.key(keys.prod)).toBeDefined();
    await expect(node.key(keys.test)).rejects.toMatchObject({ code: "unavailable", retryAfterS: 1 });
    node.failing = false;
    expect(await node.key(keys.test)).toBeDefined();
  });
});

describe("access tokens", () => {
  const newUser = async (role: Role = "member") => {
    const { organization } = await newOrganization();
    return makeUser(stores, {
      unique_organization_id: organization.unique_organization_id,
      email: `${randomUUID()}@Example.com`,
      password_hash: "hash",
      role,
      is_instance_admin: false,
      nowMs: startMs,
    });
  };

  test("become the principal of their user, as the user is now", async () => {
    const user = await newUser("viewer");
    const node = newNode();
    const { access } = await node.tokens.issue(user);
    expect(await node.jwt(access)).toEqual({
      kind: "user",
      organization_id: user.unique_organization_id,
      user_id: user.id,
      email: user.email,
      role: "viewer",
      is_instance_admin: false,
      permissions: permissionsOfRole("viewer"),
    });
    expect(user.email).toMatch(/@example\.com$/);
  });

  test("a refresh token is no access token", async () => {
    const node = newNode();
    const { refresh } = await node.tokens.issue(await newUser());
    expect(await node.jwt(refresh)).toBeUndefined();
  });

  test("end when the password changes", async () => {
    const user = await newUser();
    const node = newNode();
    const { access } = await node.tokens.issue(user);
    await stores.users.setPassword(user.id, "new hash");
    expect(await node.jwt(access)).toBeUndefined();
    const again = await stores.users.find(user.id);
    expect(await node.jwt((await node.tokens.issue(again!)).access)).toBeDefined();
  });

  test("of a user who is gone are refused", async () => {
    const node = newNode();
    const user = await newUser();
    const { access } = await node.tokens.issue({ ...user, id: randomUUID() });
    expect(await node.jwt(access)).toBeUndefined();
  });
});
