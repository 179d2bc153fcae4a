import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { acceptInvitation, changeRole, inviteMember, removeMember } from "../../src/auth/members.ts";
import { makeApiKey } from "../../src/auth/make-api-key.ts";
import type { User } from "../../src/domain/user.ts";
import type { ControlStores } from "../../src/storage/control/control-stores.ts";

const nowMs = Date.parse("2026-03-01T10:00:00.000Z");
const now = new Date(nowMs).toISOString();

/** The part of control-store-contract.ts about concurrent changes of people. */
export function describePeopleStores(getStores: () => ControlStores) {
  const newOrganization = async (): Promise<string> => {
    const unique_organization_id = `org_${randomUUID()}`;
    await getStores().organizations.create({
      unique_organization_id,
      name: "A",
      retention_days: null,
      created_at: now,
    });
    return unique_organization_id;
  };
  const newMember = async (unique_organization_id: string, fields: Partial<User> = {}) =>
    getStores().users.create({
      id: randomUUID(),
      unique_organization_id,
      email: `${randomUUID()}@example.com`,
      password_hash: "hash",
      role: "member",
      is_instance_admin: false,
      created_at: now,
      ...fields,
    });
  const invitationTo = async (unique_organization_id: string, email = `${randomUUID()}@example.com`) =>
    inviteMember(getStores(), { unique_organization_id, email, role: "admin", nowMs });

  describe("browser sessions", () => {
    const later = (ms: number) => new Date(nowMs + ms).toISOString();

    test("are found by the hash of their id until they end, and never by the id of a token's session", async () => {
      const { sessions, users, transaction } = getStores();
      const user = await newMember(await newOrganization());
      const [id, token] = [randomUUID(), randomUUID()];
      const session = { user_id: user.id, sequence: 0, created_at: now, expires_at: later(1_000) };
      await sessions.create({ ...session, id, ends_at: later(5_000) });
      await sessions.create({ ...session, id: token, ends_at: null });
      const found = { user, expires_at: later(1_000), ends_at: later(5_000) };
      expect(await sessions.findOfBrowser(id, now)).toEqual(found);
      expect(await sessions.findOfBrowser(token, now)).toBeUndefined();
      expect(await sessions.findOfBrowser(id, later(1_000))).toBeUndefined();
      await sessions.extend(id, later(3_000));
      await sessions.extend(id, later(2_000));
      expect(await sessions.findOfBrowser(id, later(2_999))).toEqual({ ...found, expires_at: later(3_000) });
      await transaction(async (set) => set.users.setPassword(user.id, "new hash"));
      expect(await sessions.findOfBrowser(id, now)).toBeUndefined();
      await sessions.extend(id, later(4_000));
      expect(await sessions.findOfBrowser(id, now)).toBeUndefined();
      expect(await users.find(user.id)).toEqual(user);
    });

    test("begin with a code that is valid once, for a limited time, and not after a new password or a removal", async () => {
      const { signInCodes, transaction } = getStores();
      const unique_organization_id = await newOrganization();
      const { id: user_id } = await newMember(unique_organization_id);
      const newCode = async () => {
        const code_hash = randomUUID();
        await signInCodes.create({ code_hash, user_id, expires_at: later(1_000) });
        return code_hash;
      };
      const code = await newCode();
      const successful = await Promise.all([signInCodes.take(code, now), signInCodes.take(code, now)]);
      expect(successful.filter((taken) => taken !== undefined)).toEqual([user_id]);
      expect(await signInCodes.take(await newCode(), later(1_000))).toBeUndefined();
      const before = await newCode();
      await transaction(({ users }) => users.setPassword(user_id, "new hash"));
      expect(await signInCodes.take(before, now)).toBeUndefined();
      const last = await newCode();
      await transaction(({ users }) => users.remove(unique_organization_id, user_id));
      expect(await signInCodes.take(last, now)).toBeUndefined();
    });
  });

  describe("people", () => {
    test("are locked if they are unchanged, and not if they changed", async () => {
      const stores = getStores();
      const { id } = await newMember(await newOrganization());
      const lock = (...args: Parameters<typeof stores.users.lock>) =>
        stores.transaction(({ users }) => users.lock(...args));
      expect(await lock(id, { role: "member" })).toBe(true);
      expect(await lock(id, { password_hash: "hash", role: "member" })).toBe(true);
      expect(await lock(id, { role: "admin" })).toBe(false);
      expect(await lock(id, { password_hash: "another" })).toBe(false);
      expect(await lock(randomUUID(), { role: "member" })).toBe(false);
    });

    test("locked by a change of role lose what they got in the meantime", async () => {
      const stores = getStores();
      const unique_organization_id = await newOrganization();
      const { id: user_id } = await newMember(unique_organization_id);
      const { record } = makeApiKey({
        unique_organization_id,
        name: "temporary",
        environment: "prod",
        permissions: ["spans:write"],
        user_id,
        expires_at: "2026-03-02T00:00:00.000Z",
        createdAtMs: nowMs,
      });
      let demotion: Promise<unknown> = Promise.resolve();
      await stores.transaction(async ({ users, apiKeys }) => {
        expect(await users.lock(user_id, { role: "member" })).toBe(true);
        demotion = changeRole(stores, { unique_organization_id, id: user_id, role: "viewer", nowMs });
        await sleep(30);
        await apiKeys.create(record);
      });
      await demotion;
      expect(await stores.apiKeys.findByHash(record.hash, now)).toBeUndefined();
    });

    test("the last two instance admins are not both removed, even from different organizations", async () => {
      const stores = getStores();
      await stores.transaction(({ instance }) => instance.claimInitialization(now));
      const admins = [];
      for (const unique_organization_id of [await newOrganization(), await newOrganization()]) {
        const another = await newMember(unique_organization_id);
        await stores.users.setRole(unique_organization_id, another.id, "admin");
        admins.push(await newMember(unique_organization_id, { role: "admin", is_instance_admin: true }));
      }
      const [one, other] = admins;
      let second: Promise<unknown> = Promise.resolve();
      await stores.transaction(async (set) => {
        const within = { ...stores, transaction: <T>(work: (inside: typeof set) => Promise<T>) => work(set) };
        await removeMember(within, one!.unique_organization_id, one!.id);
        // The other removal begins before this one commits.
        second = removeMember(stores, other!.unique_organization_id, other!.id);
        second.catch(() => undefined);
        await sleep(50);
      });
      await expect(second).rejects.toMatchObject({ code: "conflict" });
      await stores.transaction(({ users }) => users.remove(other!.unique_organization_id, other!.id));
    });

    test("who are invited several times at the same moment have one invitation", async () => {
      const unique_organization_id = await newOrganization();
      const invite = () => invitationTo(unique_organization_id, "twice@example.com");
      await Promise.all([invite(), invite(), invite(), invite()]);
      expect(await getStores().invitations.list(unique_organization_id, now)).toHaveLength(1);
    });

    test("who accept while the role of the invitation changes get the role of the last response", async () => {
      const stores = getStores();
      const unique_organization_id = await newOrganization();
      for (let round = 0; round < 20; round += 1) {
        const { invitation, token } = await invitationTo(unique_organization_id);
        const change = { unique_organization_id, id: invitation.id, role: "viewer", nowMs } as const;
        const [changed, accepted] = await Promise.allSettled([
          changeRole(stores, change),
          acceptInvitation(stores, { token, password_hash: "hash", nowMs }),
        ]);
        const role = changed.status === "fulfilled" ? "viewer" : "admin";
        expect(accepted).toMatchObject({ status: "fulfilled", value: { role } });
      }
    });
  });
}
