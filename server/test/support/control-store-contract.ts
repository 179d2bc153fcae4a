import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeApiKey } from "../../src/auth/make-api-key.ts";
import { ServiceError } from "../../src/domain/errors.ts";
import { createControlStores, type ControlStores } from "../../src/storage/control/control-stores.ts";
import type { ControlDatabase } from "../../src/storage/control/open-control-database.ts";
import { describeCustomerStores } from "./customer-store-contract.ts";
import { describeEvaluationStores } from "./evaluation-store-contract.ts";
import { describeScoreStore } from "./score-store-contract.ts";
import { describePeopleStores } from "./people-store-contract.ts";
import { describeAlertStores } from "./alert-store-contract.ts";
import { describePriceStores } from "./price-store-contract.ts";
import { describeRoom } from "./room-store-contract.ts";
import { describeTraceStores } from "./trace-store-contract.ts";
import { describeWebhookStores } from "./webhook-store-contract.ts";

const createdAtMs = Date.parse("2026-03-01T10:00:00.000Z");
const created_at = new Date(createdAtMs).toISOString();

/** The contract of every driver of the control store. @param open opens an empty database and returns how to remove it */
export function describeControlStores(open: () => Promise<{ database: ControlDatabase; remove: () => Promise<void> }>) {
  let database: ControlDatabase;
  let stores: ControlStores;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    ({ database, remove } = await open());
    await database.migrate();
    stores = createControlStores(database);
  });
  afterAll(async () => {
    await database.close();
    await remove();
  });

  const newOrganization = (name = "Acme") => {
    const unique_organization_id = `org_${randomUUID()}`;
    return stores.organizations.create({ unique_organization_id, name, retention_days: null, created_at });
  };
  const newUser = (unique_organization_id: string, email = `${randomUUID()}@example.com`) =>
    stores.users.create({
      id: randomUUID(),
      unique_organization_id,
      email,
      password_hash: "hash",
      role: "member",
      is_instance_admin: false,
      created_at,
    });
  const newKey = (
    unique_organization_id: string,
    fields: { user_id?: string; expires_at?: string; name?: string } = {},
  ) =>
    makeApiKey({
      unique_organization_id,
      name: "CI",
      environment: "prod",
      permissions: ["spans:write", "spans:read"],
      user_id: null,
      expires_at: null,
      createdAtMs,
      ...fields,
    });

  test("migrating again changes nothing", async () => {
    const { unique_organization_id } = await newOrganization();
    await database.migrate();
    expect(await stores.organizations.find(unique_organization_id)).toBeDefined();
  });

  test("responds to a ping", async () => {
    await expect(database.ping()).resolves.toBeUndefined();
  });

  describe("organizations", () => {
    test("are stored unchanged, with integer ids", async () => {
      const first = await newOrganization("Zoë & Söhne ✓");
      const second = await newOrganization();
      expect(first).toEqual({
        id: expect.any(Number),
        unique_organization_id: first.unique_organization_id,
        name: "Zoë & Söhne ✓",
        retention_days: null,
        created_at,
        blocked_at: null,
        test_uses_prod_providers: false,
      });
      expect(second.id).not.toBe(first.id);
      expect(await stores.organizations.find(first.unique_organization_id)).toEqual(first);
      const listed = await stores.organizations.list();
      expect(listed).toEqual(expect.arrayContaining([first, second]));
    });

    test("a taken id is a conflict", async () => {
      const { unique_organization_id } = await newOrganization();
      const again = { unique_organization_id, name: "Other", retention_days: null, created_at };
      await expect(stores.organizations.create(again)).rejects.toMatchObject({ code: "conflict" });
    });

    test("an update changes the given fields, and no other organization", async () => {
      const organization = await newOrganization();
      const neighbour = await newOrganization();
      const id = organization.unique_organization_id;
      expect(await stores.organizations.update(id, { retention_days: 30 })).toEqual({
        ...organization,
        retention_days: 30,
      });
      expect(await stores.organizations.update(id, { name: "New" })).toMatchObject({ name: "New", retention_days: 30 });
      expect(await stores.organizations.update(id, { retention_days: null })).toMatchObject({ retention_days: null });
      expect(await stores.organizations.update(id, {})).toMatchObject({ name: "New" });
      expect(await stores.organizations.find(neighbour.unique_organization_id)).toEqual(neighbour);
    });

    test("only blocked ones are listed", async () => {
      const [id, neighbour] = [await newOrganization(), await newOrganization()].map((o) => o.unique_organization_id);
      const blocked = async () => (await stores.organizations.listBlocked()).filter((o) => o === id || o === neighbour);
      await stores.organizations.update(id ?? "", { blocked_at: created_at });
      expect(await blocked()).toEqual([id]);
      await stores.organizations.update(id ?? "", { blocked_at: null });
      expect(await blocked()).toEqual([]);
    });

    test("an unknown id is undefined", async () => {
      expect(await stores.organizations.find("nobody")).toBeUndefined();
      expect(await stores.organizations.update("nobody", { name: "x" })).toBeUndefined();
      expect(await stores.organizations.update("nobody", {})).toBeUndefined();
    });
  });

  describe("users", () => {
    test("are stored unchanged, the hash is returned only on request", async () => {
      const { unique_organization_id } = await newOrganization();
      const user = await newUser(unique_organization_id, `ada-${randomUUID()}@example.com`);
      expect(user).toEqual({
        id: user.id,
        unique_organization_id,
        email: user.email,
        role: "member",
        is_instance_admin: false,
        created_at,
      });
      expect(await stores.users.find(user.id)).toEqual(user);
      expect(await stores.users.findByEmail(user.email)).toEqual({ ...user, password_hash: "hash" });
      expect(await stores.users.find("nobody")).toBeUndefined();
      expect(await stores.users.findByEmail("nobody@example.com")).toBeUndefined();
    });

    test("an address has one account in the whole instance", async () => {
      const first = await newOrganization();
      const second = await newOrganization();
      const { email } = await newUser(first.unique_organization_id);
      await expect(newUser(second.unique_organization_id, email)).rejects.toMatchObject({ code: "conflict" });
    });

    test("require an existing organization", async () => {
      await expect(newUser("nobody")).rejects.toThrow(/foreign key/i);
    });

    test("are listed by organization", async () => {
      const first = await newOrganization();
      const second = await newOrganization();
      const user = await newUser(first.unique_organization_id);
      await newUser(second.unique_organization_id);
      expect(await stores.users.list(first.unique_organization_id)).toEqual([user]);
    });

    test("a new password ends the sessions and the temporary keys of that user only", async () => {
      const { unique_organization_id } = await newOrganization();
      const user = await newUser(unique_organization_id);
      const other = await newUser(unique_organization_id);
      const expires_at = "2026-03-01T11:00:00.000Z";
      const mine = newKey(unique_organization_id, { user_id: user.id, expires_at }).record;
      const theirs = newKey(unique_organization_id, { user_id: other.id, expires_at }).record;
      await stores.apiKeys.create(mine);
      await stores.apiKeys.create(theirs);

      expect(await stores.users.setPassword(user.id, "new hash")).toBe(true);

      expect(await stores.users.findByEmail(user.email)).toMatchObject({ password_hash: "new hash" });
      expect(await stores.users.find(other.id)).toEqual(other);
      expect(await stores.apiKeys.findByHash(mine.hash, created_at)).toBeUndefined();
      expect(await stores.apiKeys.findByHash(theirs.hash, created_at)).toBeDefined();
      expect(await stores.users.setPassword("nobody", "x")).toBe(false);
    });
  });

  describe("API keys", () => {
    test("are found by the hash of their secret", async () => {
      const { unique_organization_id } = await newOrganization();
      const { record } = newKey(unique_organization_id);
      const created = await stores.apiKeys.create(record);
      const { hash, ...stored } = record;
      const shown = { ...stored, last_used_at: null };
      expect(created).toEqual(shown);
      expect(await stores.apiKeys.findByHash(hash, created_at)).toEqual(shown);
      expect(await stores.apiKeys.findByHash("other", created_at)).toBeUndefined();
    });

    test("the secret is not in the database", async () => {
      const { unique_organization_id } = await newOrganization();
      const { secret, record } = newKey(unique_organization_id);
      await stores.apiKeys.create(record);
      const rows = await database.queries.selectFrom("api_keys").selectAll().where("id", "=", record.id).execute();
      expect(rows).toHaveLength(1);
      expect(JSON.stringify(rows)).not.toContain(secret);
    });

    test("one secret is one key, also if another organization had it or it was revoked", async () => {
      const first = await newOrganization();
      const second = await newOrganization();
      const { secret, record } = newKey(first.unique_organization_id);
      await stores.apiKeys.create(record);
      await stores.apiKeys.revoke(first.unique_organization_id, record.id, created_at);
      const again = makeApiKey(
        { ...record, unique_organization_id: second.unique_organization_id, createdAtMs },
        secret,
      );
      await expect(stores.apiKeys.create({ ...again.record, id: randomUUID() })).rejects.toMatchObject({
        code: "conflict",
      });
    });

    test("a revoked key is in no read, and only its own organization can revoke it", async () => {
      const mine = await newOrganization();
      const theirs = await newOrganization();
      const { record } = newKey(mine.unique_organization_id);
      await stores.apiKeys.create(record);

      expect(await stores.apiKeys.revoke(theirs.unique_organization_id, record.id, created_at)).toBeUndefined();
      expect(await stores.apiKeys.findByHash(record.hash, created_at)).toBeDefined();

      expect(await stores.apiKeys.revoke(mine.unique_organization_id, record.id, created_at)).toBe(record.hash);
      expect(await stores.apiKeys.findByHash(record.hash, created_at)).toBeUndefined();
      expect(await stores.apiKeys.list(mine.unique_organization_id, "2026-03-01T10:00:00.000Z")).toEqual([]);
      expect(await stores.apiKeys.revoke(mine.unique_organization_id, record.id, created_at)).toBeUndefined();
    });

    test("expire at their moment, not before", async () => {
      const { unique_organization_id } = await newOrganization();
      const { record } = newKey(unique_organization_id, { expires_at: "2026-03-01T11:00:00.000Z" });
      await stores.apiKeys.create(record);
      expect(await stores.apiKeys.findByHash(record.hash, "2026-03-01T10:59:59.999Z")).toBeDefined();
      expect(await stores.apiKeys.findByHash(record.hash, "2026-03-01T11:00:00.000Z")).toBeUndefined();
    });

    test("expired ones are removed when the next one is created", async () => {
      const { unique_organization_id } = await newOrganization();
      const { record } = newKey(unique_organization_id, { expires_at: "2026-03-01T10:00:00.000Z" });
      await stores.apiKeys.create(record);
      await stores.apiKeys.create(newKey(unique_organization_id).record);
      const left = await database.queries.selectFrom("api_keys").select("id").where("id", "=", record.id).execute();
      expect(left).toEqual([]);
    });

    test("are listed by organization, without temporary ones", async () => {
      const mine = await newOrganization();
      const theirs = await newOrganization();
      const key = await stores.apiKeys.create(newKey(mine.unique_organization_id, { name: "one" }).record);
      const { id: user_id } = await newUser(mine.unique_organization_id);
      const temporary = { user_id, expires_at: "2026-03-01T11:00:00.000Z" };
      await stores.apiKeys.create(newKey(mine.unique_organization_id, temporary).record);
      await stores.apiKeys.create(newKey(theirs.unique_organization_id).record);
      expect(await stores.apiKeys.list(mine.unique_organization_id, "2026-03-01T10:00:00.000Z")).toEqual([key]);
    });

    test("a user's temporary keys are bounded", async () => {
      const { unique_organization_id } = await newOrganization();
      const user = await newUser(unique_organization_id);
      const make = () => newKey(unique_organization_id, { user_id: user.id, expires_at: "2026-03-01T11:00:00.000Z" });
      await stores.transaction(async ({ apiKeys }) => {
        for (let made = 0; made < 100; made += 1) await apiKeys.create(make().record);
      });
      await expect(stores.apiKeys.create(make().record)).rejects.toMatchObject({ code: "conflict" });
      await expect(stores.apiKeys.create(newKey(unique_organization_id).record)).resolves.toBeDefined();
    });
  });

  describe("provider settings", () => {
    const newSetting = (unique_organization_id: string, fields: { name?: string; created_at?: string } = {}) => ({
      id: randomUUID(),
      unique_organization_id,
      provider: "openai",
      name: "Zoë's",
      environment: "test" as const,
      base_url: "https://example.com/v1",
      fields: { api_version: "1" },
      available_models: ["gpt-4o"],
      exclude_models: ["a", "b"],
      weight: 0.25,
      is_enabled: false,
      secret: "sealed",
      secret_tail: "WXYZ",
      created_at,
      updated_at: created_at,
      ...fields,
    });

    const changeable = ({ name, environment, base_url, fields, ...rest }: ReturnType<typeof newSetting>) => ({
      name,
      environment,
      base_url,
      fields,
      available_models: rest.available_models,
      exclude_models: rest.exclude_models,
      weight: rest.weight,
      is_enabled: rest.is_enabled,
      secret: rest.secret,
      secret_tail: rest.secret_tail,
    });

    test("are stored unchanged, only for their organization, oldest first", async () => {
      const mine = (await newOrganization()).unique_organization_id;
      const theirs = (await newOrganization()).unique_organization_id;
      const later = newSetting(mine, { created_at: "2026-03-02T10:00:00.000Z" });
      const full = newSetting(mine);
      const bare = { ...newSetting(theirs), environment: null, base_url: null, available_models: null, secret: null };
      for (const setting of [later, full, bare]) await stores.providerSettings.create(setting);
      expect(await stores.providerSettings.list(mine)).toEqual([
        { ...full, has_secret: true },
        { ...later, has_secret: true },
      ]);
      expect(await stores.providerSettings.find(theirs, bare.id)).toEqual({ ...bare, has_secret: false });
      expect(await stores.providerSettings.find(mine, bare.id)).toBeUndefined();
    });

    test("are replaced as a whole, and only if they did not change since they were read", async () => {
      const mine = (await newOrganization()).unique_organization_id;
      const theirs = (await newOrganization()).unique_organization_id;
      const before = newSetting(mine);
      const neighbour = newSetting(mine);
      for (const setting of [before, neighbour]) await stores.providerSettings.create(setting);
      const updated_at = "2026-03-01T11:00:00.000Z";
      const { id } = before;
      const change = { ...changeable(before), name: "New", secret: "sealed anew", is_enabled: true, updated_at };
      expect(await stores.providerSettings.update(theirs, id, change, created_at)).toBeUndefined();
      const after = { ...before, ...change, has_secret: true };
      expect(await stores.providerSettings.update(mine, id, change, created_at)).toEqual(after);
      expect(await stores.providerSettings.update(mine, id, { ...change, name: "Late" }, created_at)).toBeUndefined();
      expect(await stores.providerSettings.find(mine, id)).toEqual(after);
      expect(await stores.providerSettings.find(mine, neighbour.id)).toEqual({ ...neighbour, has_secret: true });
    });

    test("are deleted only by their organization", async () => {
      const mine = (await newOrganization()).unique_organization_id;
      const theirs = (await newOrganization()).unique_organization_id;
      const { id } = await stores.providerSettings.create(newSetting(mine));
      expect(await stores.providerSettings.delete(theirs, id)).toBe(false);
      expect(await stores.providerSettings.delete(mine, id)).toBe(true);
      expect(await stores.providerSettings.delete(mine, id)).toBe(false);
      expect(await stores.providerSettings.list(mine)).toEqual([]);
    });
  });
  describeRoom({ stores: () => stores, newOrganization: () => newOrganization() });
  describeTraceStores({ stores: () => stores, newOrganization: () => newOrganization() });
  describeEvaluationStores({ stores: () => stores, newOrganization: () => newOrganization() });
  describeScoreStore({ stores: () => stores, newOrganization: () => newOrganization() });
  describeWebhookStores({ stores: () => stores, newOrganization: () => newOrganization() });
  describeAlertStores({ stores: () => stores, newOrganization: () => newOrganization() });
  describePriceStores(() => stores);
  describeCustomerStores({ stores: () => stores, newOrganization: () => newOrganization() });

  describe("transactions", () => {
    test.each(["transaction", "unflushed"] as const)("are rolled back if the work throws: %s", async (kind) => {
      const unique_organization_id = `org_${randomUUID()}`;
      const failing = stores[kind](async ({ organizations }) => {
        await organizations.create({ unique_organization_id, name: "x", retention_days: null, created_at });
        throw new ServiceError("conflict", "changed my mind");
      });
      await expect(failing).rejects.toThrow("changed my mind");
      expect(await stores.organizations.find(unique_organization_id)).toBeUndefined();
    });

    test("that run at the same time, flushed or not, are separate and all committed", async () => {
      const names = Array.from({ length: 20 }, () => `org_${randomUUID()}`);
      await Promise.all(
        names.map((unique_organization_id, i) =>
          stores[i % 2 === 0 ? "transaction" : "unflushed"](async ({ organizations }) => {
            await organizations.create({ unique_organization_id, name: "x", retention_days: null, created_at });
          }),
        ),
      );
      for (const name of names) expect(await stores.organizations.find(name)).toBeDefined();
    });

    test("a claim that is rolled back may be repeated, a committed one never", async () => {
      const failing = stores.transaction(async ({ instance }) => {
        expect(await instance.claimInitialization(created_at)).toBe(true);
        throw new Error("not now");
      });
      await expect(failing).rejects.toThrow("not now");
      expect(await stores.instance.isInitialized()).toBe(false);

      const claims = await Promise.all(
        Array.from({ length: 4 }, () => stores.transaction(({ instance }) => instance.claimInitialization(created_at))),
      );
      expect(claims.filter(Boolean)).toHaveLength(1);
      expect(await stores.instance.isInitialized()).toBe(true);
    });
  });

  // Claims the instance; the tests above start without a claim.
  describePeopleStores(() => stores);
}
