import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import { Secret } from "../lib/secret.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { ensureFirstStart, noteUnusedKeys, type FirstStartSettings } from "./first-start.ts";
import { hashApiKey } from "./authenticator.ts";
import { createPasswords } from "./passwords.ts";

const nowMs = () => Date.parse("2026-03-01T10:00:00.000Z");
const now = "2026-03-01T10:00:00.000Z";
const passwords = createPasswords({ n: 2 ** 10, r: 8, p: 1 });
const nothingChosen: FirstStartSettings = {
  organizationId: undefined,
  prodKey: undefined,
  testKey: undefined,
  adminEmail: undefined,
  adminPassword: undefined,
};

let stores: ControlStores;
let close: () => Promise<void>;
beforeEach(async () => {
  ({ stores, close } = await openMemoryControl());
});
afterEach(() => close());

test("an empty instance gets a generated organization, keys and administrator", async () => {
  const made = await ensureFirstStart(stores, passwords, nothingChosen, nowMs);
  expect(made).toEqual({
    unique_organization_id: expect.stringMatching(/^org_[0-9A-Za-z]{20}$/),
    admin_email: "admin@spanway.local",
    sign_in_code: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
    admin_password: { value: expect.stringMatching(/^[0-9A-Za-z]{24}$/), given: false },
    keys: {
      prod: { value: expect.stringMatching(/^spw_prod_[0-9A-Za-z]{32}$/), given: false },
      test: { value: expect.stringMatching(/^spw_test_[0-9A-Za-z]{32}$/), given: false },
    },
  });
  const { unique_organization_id, keys, admin_password } = made!;
  const key = await stores.apiKeys.findByHash(hashApiKey(keys.prod.value), now);
  expect(key).toMatchObject({ unique_organization_id, environment: "prod", expires_at: null });
  expect(key?.permissions).not.toContain("keys:manage");
  const admin = await stores.users.findByEmail("admin@spanway.local");
  expect(admin).toMatchObject({ unique_organization_id, role: "admin", is_instance_admin: true });
  expect(await passwords.verify(admin_password.value, admin?.password_hash)).toBe(true);
});

test("values that the operator chose replace generated ones", async () => {
  const made = await ensureFirstStart(
    stores,
    passwords,
    {
      organizationId: "acme",
      prodKey: new Secret("prod-key-of-the-operator"),
      testKey: new Secret("test-key-of-the-operator"),
      adminEmail: "ada@example.com",
      adminPassword: new Secret("correct horse"),
    },
    nowMs,
  );
  expect(made).toEqual({
    unique_organization_id: "acme",
    admin_email: "ada@example.com",
    sign_in_code: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
    admin_password: { value: "correct horse", given: true },
    keys: {
      prod: { value: "prod-key-of-the-operator", given: true },
      test: { value: "test-key-of-the-operator", given: true },
    },
  });
  const key = await stores.apiKeys.findByHash(hashApiKey("test-key-of-the-operator"), now);
  expect(key).toMatchObject({ unique_organization_id: "acme", environment: "test" });
});

test("the next start creates nothing, whatever is chosen then", async () => {
  await ensureFirstStart(stores, passwords, nothingChosen, nowMs);
  const chosen = { ...nothingChosen, organizationId: "acme", prodKey: new Secret("prod-key-of-the-operator") };
  expect(await ensureFirstStart(stores, passwords, chosen, nowMs)).toBeUndefined();
  expect(await stores.organizations.list()).toHaveLength(1);
  expect(await stores.apiKeys.findByHash(hashApiKey("prod-key-of-the-operator"), now)).toBeUndefined();
});

test("a start that fails half-way leaves nothing and can be retried", async () => {
  const same = new Secret("one-key-for-both-of-them");
  const failing = ensureFirstStart(stores, passwords, { ...nothingChosen, prodKey: same, testKey: same }, nowMs);
  await expect(failing).rejects.toMatchObject({ code: "conflict" });
  expect(await stores.organizations.list()).toEqual([]);
  expect(await ensureFirstStart(stores, passwords, nothingChosen, nowMs)).toBeDefined();
});

test("a later start says how to get a key, until one was used or the operator chose one", async () => {
  const made = await ensureFirstStart(stores, passwords, nothingChosen, nowMs);
  const notes = async (prodKey?: Secret): Promise<string[]> => {
    const lines: string[] = [];
    await noteUnusedKeys(stores.apiKeys, { prodKey }, { info: (line: string) => void lines.push(line) });
    return lines;
  };
  expect(await notes()).toEqual([
    expect.stringMatching(/npm run admin -- keys create.*npm run admin -- users set-password/),
  ]);
  expect(await notes(new Secret("prod-key-of-the-operator"))).toEqual([]);
  const key = await stores.apiKeys.findByHash(hashApiKey(made!.keys.test.value), now);
  await stores.apiKeys.noteUsed([key!.id], now);
  expect(await notes()).toEqual([]);
});
