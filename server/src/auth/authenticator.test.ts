import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { controlUp, staleMs } from "../../test/support/control-up.ts";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import { expandPermissions, permissionsOfRole, type Permission, type Role } from "../domain/permissions.ts";
import { Secret } from "../lib/secret.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { createAuthenticator, hashApiKey } from "./authenticator.ts";
import { makeOrganization, makeUser } from "./make-organization.ts";
import { makeApiKey } from "./make-api-key.ts";
import { createSessions } from "./sessions.ts";
import { createTokens } from "./tokens.ts";
import { authLimits } from "./limits.ts";
import { storageLimits } from "../storage/limits.ts";

const startMs = Date.parse("2026-03-01T10:00:00.000Z");
let stores: ControlStores;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ stores, close } = await openMemoryControl());
});
afterAll(() => close());

/** A separate node, with an adjustable clock and a count of its lookups. */
function newNode() {
  const node = { nowMs: startMs, lookups: 0, failing: false };
  const control = controlUp();
  const tokens = createTokens(new Secret("a secret of the instance"), () => node.nowMs);
  const authenticator = createAuthenticator({
    apiKeys: {
      findByHash: async (hash, now) => {
        node.lookups += 1;
        if (node.failing) throw new Error("connection refused");
        return stores.apiKeys.findByHash(hash, now);
      },
      countUse: stores.apiKeys.countUse,
    },
    control,
    staleMs,
    sessions: stores.sessions,
    tokens,
    browsers: { find: async () => undefined },
    nowMs: () => node.nowMs,
  });
  const signedIn = createSessions({ ...stores, tokens, nowMs: () => node.nowMs });
  return Object.assign(node, {
    signedIn,
    tokens,
    takeUsed: authenticator.takeUsed,
    evictKey: authenticator.evictKey,
    key: async (token: string) => authenticator.authenticate({ scheme: "key", token }),
    jwt: async (token: string) => authenticator.authenticate({ scheme: "jwt", token }),
  });
}

const newOrganization = () => makeOrganization(stores, { name: "Acme", nowMs: startMs });

async function newKey(
  unique_organization_id: string,
  fields: { expires_at?: string; permissions?: Permission[]; user_id?: string; max_usage?: number } = {},
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

  test("of two organizations have two principals", async () => {
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

  test("chosen by the operator work unchanged", async () => {
    const { organization } = await newOrganization();
    const { record } = await newKey(organization.unique_organization_id, {}, "0123456789abcde!");
    expect(record.prefix).toBe("01234");
    expect(await newNode().key("0123456789abcde!")).toMatchObject({ organization_key_id: record.id });
  });

  test("are looked up once, however many requests arrive together", async () => {
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

  test("a flood of unknown ones evicts no known one", async () => {
    const { keys } = await newOrganization();
    const node = newNode();
    await node.key(keys.prod);
    for (let made = 0; made < 11_000; made += 1) await node.key(`unknown ${made}`);
    const { lookups } = node;
    expect(await node.key(keys.prod)).toBeDefined();
    expect(node.lookups).toBe(lookups);
  });

  test("a revoked one is refused immediately on this node, and within 30 s on the others", async () => {
    const { organization } = await newOrganization();
    const { secret, record } = await newKey(organization.unique_organization_id);
    const [here, there] = [newNode(), newNode()];
    expect(await here.key(secret)).toBeDefined();
    expect(await there.key(secret)).toBeDefined();

    const hash = await stores.apiKeys.revoke(organization.unique_organization_id, record.id, record.created_at);
    here.evictKey(hash!);

    expect(await here.key(secret)).toBeUndefined();
    there.nowMs += 30_000;
    expect(await there.key(secret)).toBeUndefined();
  });

  test("one that was revoked during its lookup is not cached", async () => {
    const { organization } = await newOrganization();
    const { secret, record } = await newKey(organization.unique_organization_id);
    let release = () => {};
    const delayed = new Promise<void>((resolve) => (release = resolve));
    const authenticator = createAuthenticator({
      control: controlUp(),
      staleMs,
      apiKeys: {
        findByHash: async (hash, now) => {
          const found = await stores.apiKeys.findByHash(hash, now);
          await delayed;
          return found;
        },
        countUse: stores.apiKeys.countUse,
      },
      browsers: { find: async () => undefined },
      sessions: stores.sessions,
      tokens: newNode().tokens,
      nowMs: () => startMs,
    });
    const early = authenticator.authenticate({ scheme: "key", token: secret });
    await stores.apiKeys.list(organization.unique_organization_id, record.created_at);
    await stores.apiKeys.revoke(organization.unique_organization_id, record.id, record.created_at);
    authenticator.evictKey(record.hash);
    release();
    await early;
    expect(await authenticator.authenticate({ scheme: "key", token: secret })).toBeUndefined();
  });

  test("one that was created after it had been refused works immediately on this node", async () => {
    const { organization } = await newOrganization();
    const node = newNode();
    const secret = randomUUID();
    expect(await node.key(secret)).toBeUndefined();
    await newKey(organization.unique_organization_id, {}, secret);
    node.evictKey(hashApiKey(secret));
    expect(await node.key(secret)).toBeDefined();
  });

  test("K5: a temporary one is valid for its number of requests on all nodes together, however many arrive at once", async () => {
    const { organization } = await newOrganization();
    const user = await makeUser(stores, {
      unique_organization_id: organization.unique_organization_id,
      email: `${randomUUID()}@example.com`,
      password_hash: "hash",
      role: "member",
      is_instance_admin: false,
      nowMs: startMs,
    });
    const expires_at = new Date(startMs + 60_000).toISOString();
    const { secret } = await newKey(organization.unique_organization_id, {
      expires_at,
      user_id: user.id,
      max_usage: 5,
    });
    const nodes = [newNode(), newNode()];
    const found = await Promise.all(Array.from({ length: 20 }, (_, n) => nodes[n % 2]!.key(secret)));
    expect(found.filter((principal) => principal !== undefined)).toHaveLength(5);
    expect(found.find((principal) => principal !== undefined)).toMatchObject({ user_id: user.id });
  });

  test("a person's temporary one ends with the role and with the membership, immediately on every node", async () => {
    const { organization } = await newOrganization();
    const { unique_organization_id } = organization;
    const member = { role: "member", is_instance_admin: false, password_hash: "hash", nowMs: startMs } as const;
    const user = await makeUser(stores, { ...member, unique_organization_id, email: `${randomUUID()}@example.com` });
    const made = () => newKey(unique_organization_id, { expires_at: "2027-01-01T00:00:00.000Z", user_id: user.id });
    const node = newNode();
    const first = await made();
    expect(await node.key(first.secret)).toBeDefined();
    await stores.transaction(({ users }) => users.setRole(unique_organization_id, user.id, "viewer"));
    expect(await node.key(first.secret)).toBeUndefined();
    const second = await made();
    expect(await node.key(second.secret)).toBeDefined();
    await stores.transaction(({ users }) => users.remove(unique_organization_id, user.id));
    expect(await node.key(second.secret)).toBeUndefined();
  });

  test("that were used are reported once a minute, with the first time", async () => {
    const { organization } = await newOrganization();
    const { secret, record } = await newKey(organization.unique_organization_id);
    const node = newNode();
    await node.key(secret);
    for (let n = 0; n < 10; n += 1) await node.key(secret);
    expect([...node.takeUsed()]).toEqual([[record.id, startMs]]);
    node.nowMs += 10_000;
    await node.key(secret);
    expect([...node.takeUsed()]).toEqual([]);
    node.nowMs = startMs + 61_000;
    node.takeUsed();
    await node.key(secret);
    expect([...node.takeUsed()]).toEqual([[record.id, startMs + 61_000]]);
  });

  test("a temporary one expires on time", async () => {
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

  test("while the store is down, known ones work, others get a retry response, and no failure is cached", async () => {
    const { keys } = await newOrganization();
    const node = newNode();
    await node.key(keys.prod);
    node.failing = true;
    expect(await node.key(keys.prod)).toBeDefined();
    await expect(node.key(keys.test)).rejects.toMatchObject({ code: "unavailable", retryAfterS: 1 });
    // A key that was seen within that time is still valid, but no longer.
    node.nowMs += authLimits.cachedKeyMs + staleMs - 1;
    expect(await node.key(keys.prod)).toBeDefined();
    node.nowMs += 1;
    await expect(node.key(keys.prod)).rejects.toMatchObject({ code: "unavailable" });
    node.failing = false;
    expect(await node.key(keys.test)).toBeDefined();
  });

  test("a key expires even while the store is down, and a revoked one is refused once the store is back", async () => {
    const { organization } = await newOrganization();
    const { unique_organization_id } = organization;
    const node = newNode();
    const expires_at = new Date(startMs + authLimits.cachedKeyMs * 2).toISOString();
    const [ends, stays] = [await newKey(unique_organization_id, { expires_at }), await newKey(unique_organization_id)];
    for (const { secret } of [ends, stays]) expect(await node.key(secret)).toBeDefined();
    await stores.apiKeys.revoke(unique_organization_id, stays.record.id, stays.record.created_at);
    node.failing = true;
    node.nowMs += authLimits.cachedKeyMs + 1;
    for (const { secret } of [ends, stays]) expect(await node.key(secret)).toBeDefined();
    node.nowMs += authLimits.cachedKeyMs;
    await expect(node.key(ends.secret)).rejects.toMatchObject({ code: "unavailable" });
    node.failing = false;
    expect(await node.key(stays.secret)).toBeUndefined();
    node.failing = true;
    expect(await node.key(stays.secret)).toBeUndefined();
  });
});

describe("access tokens", () => {
  const newUser = async (role: Role = "member") => {
    const { organization } = await newOrganization();
    const password_hash = "hash";
    const user = await makeUser(stores, {
      unique_organization_id: organization.unique_organization_id,
      email: `${randomUUID()}@Example.com`,
      password_hash,
      role,
      is_instance_admin: false,
      nowMs: startMs,
    });
    return { ...user, password_hash };
  };

  test("become the principal of their user, with its current role", async () => {
    const user = await newUser("viewer");
    const node = newNode();
    const { access } = await node.signedIn.begin(user);
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

  test("a refresh token is not accepted as an access token", async () => {
    const node = newNode();
    const { refresh } = await node.signedIn.begin(await newUser());
    expect(await node.jwt(refresh)).toBeUndefined();
  });

  test("end when the password changes", async () => {
    const user = await newUser();
    const node = newNode();
    const { access } = await node.signedIn.begin(user);
    await stores.users.setPassword(user.id, "new hash");
    expect(await node.jwt(access)).toBeUndefined();
    const again = { ...user, password_hash: "new hash" };
    expect(await node.jwt((await node.signedIn.begin(again)).access)).toBeDefined();
  });

  test("are not issued if the password was changed or the person was removed during the check", async () => {
    const node = newNode();
    const [changed, removed] = [await newUser(), await newUser()];
    await stores.users.setPassword(changed.id, "new hash");
    await stores.transaction(({ users }) => users.remove(removed.unique_organization_id, removed.id));
    for (const user of [changed, removed]) {
      await expect(node.signedIn.begin(user)).rejects.toMatchObject({ code: "unauthorized" });
    }
  });

  test("end with the user, and with the session, on every node", async () => {
    const user = await newUser();
    const [here, there] = [newNode(), newNode()];
    const [first, second] = [await here.signedIn.begin(user), await here.signedIn.begin(user)];
    expect(await there.jwt(first.access)).toBeDefined();
    expect(await here.signedIn.end(first.access)).toMatchObject({ id: user.id });
    expect(await here.signedIn.end(first.access)).toBeUndefined();
    expect(await there.jwt(first.access)).toBeUndefined();
    expect(await there.jwt(second.access)).toBeDefined();
    await stores.transaction(({ users }) => users.remove(user.unique_organization_id, user.id));
    expect(await there.jwt(second.access)).toBeUndefined();
  });

  test("K12: a refresh token is valid once; a second use ends the session with all of its tokens", async () => {
    const node = newNode();
    const first = await node.signedIn.begin(await newUser());
    const second = await node.signedIn.refresh(first.refresh);
    const third = await node.signedIn.refresh(second!.refresh);
    expect(await node.jwt(third!.access)).toBeDefined();
    expect(await newNode().signedIn.refresh(first.refresh)).toBeUndefined();
    expect(await node.signedIn.refresh(third!.refresh)).toBeUndefined();
    for (const { access } of [first, second!, third!]) expect(await node.jwt(access)).toBeUndefined();
  });

  test("K12: of two concurrent refreshes with one token, at most one gets a pair", async () => {
    const node = newNode();
    const { refresh } = await node.signedIn.begin(await newUser());
    const pairs = await Promise.all([node.signedIn.refresh(refresh), node.signedIn.refresh(refresh)]);
    expect(pairs.filter((pair) => pair !== undefined)).toHaveLength(1);
  });

  test("a person has a limited number of sessions; the oldest end", async () => {
    const node = newNode();
    const user = await newUser();
    const first = await node.signedIn.begin(user);
    for (let n = 0; n < storageLimits.sessionsPerUser; n += 1) {
      node.nowMs += 1;
      await node.signedIn.begin(user);
    }
    expect(await node.jwt(first.access)).toBeUndefined();
  });
});
