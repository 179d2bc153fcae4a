import { randomUUID } from "node:crypto";
import { defaultKeyPermissions, keyPermissions, type Role } from "../domain/permissions.ts";
import type { Organization } from "../domain/organization.ts";
import { environments, type Environment } from "../domain/principal.ts";
import { canonicalEmail, type User } from "../domain/user.ts";
import { randomToken } from "../lib/random-token.ts";
import type { ControlStoreSet } from "../storage/control/control-stores.ts";
import { makeApiKey } from "./make-api-key.ts";

export type OrganizationRequest = {
  name: string;
  /** Generated if absent. */
  unique_organization_id?: string | undefined;
  /** Secrets given by the operator; generated if absent. */
  keys?: { [E in Environment]?: string | undefined };
  nowMs: number;
};

/** The secrets of an organization's first keys, to be shown once. */
export type FirstKeys = Record<Environment, string>;

/**
 * Creates an organization with a key for each environment. Call it in a transaction. Throws `conflict` if the id or a
 * given key is taken.
 */
export async function makeOrganization(
  stores: Pick<ControlStoreSet, "organizations" | "apiKeys">,
  { name, unique_organization_id = `org_${randomToken(20)}`, keys: given = {}, nowMs }: OrganizationRequest,
): Promise<{ organization: Organization; keys: FirstKeys }> {
  const organization = await stores.organizations.create({
    name,
    unique_organization_id,
    retention_days: null,
    created_at: new Date(nowMs).toISOString(),
  });
  const keys: FirstKeys = { prod: "", test: "" };
  for (const environment of environments) {
    const { secret, record } = makeApiKey(
      {
        unique_organization_id,
        name: `Default ${environment} key`,
        environment,
        permissions: defaultKeyPermissions(new Set(keyPermissions)),
        user_id: null,
        expires_at: null,
        createdAtMs: nowMs,
      },
      given[environment],
    );
    await stores.apiKeys.create(record);
    keys[environment] = secret;
  }
  return { organization, keys };
}

export type UserRequest = {
  unique_organization_id: string;
  email: string;
  password_hash: string;
  role: Role;
  is_instance_admin: boolean;
  nowMs: number;
};

/** Throws `conflict` if the address has an account already. */
export function makeUser(stores: Pick<ControlStoreSet, "users">, { nowMs, ...user }: UserRequest): Promise<User> {
  return stores.users.create({
    ...user,
    id: randomUUID(),
    email: canonicalEmail(user.email),
    created_at: new Date(nowMs).toISOString(),
  });
}
