import { hash, randomUUID } from "node:crypto";
import { ServiceError } from "../domain/errors.ts";
import type { Invitation } from "../domain/invitation.ts";
import type { Role } from "../domain/permissions.ts";
import { canonicalEmail, type User } from "../domain/user.ts";
import { randomToken } from "../lib/random-token.ts";
import { authLimits } from "./limits.ts";
import type { ControlStores, ControlStoreSet } from "../storage/control/control-stores.ts";
import { makeUser } from "./make-organization.ts";

/** Manages the members of an organization, for the API and the command line. */

type Stores = Pick<ControlStores, "transaction" | "invitations" | "users">;

const tokenChars = 43;

function hashToken(token: string): string {
  return hash("sha256", token);
}

/** Creates an invitation and its token, which is stored nowhere. Throws `conflict` for an existing member. */
export async function inviteMember(
  stores: Stores,
  request: { unique_organization_id: string; email: string; role: Role; nowMs: number },
): Promise<{ invitation: Invitation; token: string }> {
  const { unique_organization_id, role, nowMs } = request;
  const email = canonicalEmail(request.email);
  const token = randomToken(tokenChars);
  const invitation = await stores.transaction(async ({ invitations, organizations, users }) => {
    await organizations.lock(unique_organization_id);
    const known = await users.findByEmail(email);
    // Accounts of other organizations are not revealed here: only the holder of the link learns of them.
    if (known?.unique_organization_id === unique_organization_id) {
      throw new ServiceError("conflict", `${email} is a member already.`);
    }
    return invitations.create({
      id: randomUUID(),
      unique_organization_id,
      email,
      role,
      token_hash: hashToken(token),
      created_at: new Date(nowMs).toISOString(),
      expires_at: new Date(nowMs + authLimits.invitationMs).toISOString(),
    });
  });
  return { invitation, token };
}

export function findInvitation(
  { invitations }: Pick<ControlStoreSet, "invitations">,
  token: string,
  nowMs: number,
): Promise<Invitation | undefined> {
  return invitations.findByToken(hashToken(token), new Date(nowMs).toISOString());
}

/**
 * Makes the holder of the token a member. A token works once. Throws `not_found`, or `conflict` if the address has an
 * account.
 */
export async function acceptInvitation(
  stores: Stores,
  { token, password_hash, nowMs }: { token: string; password_hash: string; nowMs: number },
): Promise<User> {
  return stores.transaction(async (set) => {
    const found = await findInvitation(set, token, nowMs);
    if (found === undefined) throw invitationNotFound();
    // Reads the role after the lock, because an admin may change it concurrently.
    await set.organizations.lock(found.unique_organization_id);
    const invitation = await set.invitations.take(hashToken(token), new Date(nowMs).toISOString());
    if (invitation === undefined) throw invitationNotFound();
    const { unique_organization_id, email, role } = invitation;
    return makeUser(set, { unique_organization_id, email, role, password_hash, is_instance_admin: false, nowMs });
  });
}

export function invitationNotFound(): ServiceError {
  return new ServiceError("not_found", "There is no such invitation: it was used, withdrawn, or has expired.");
}

/** Throws `not_found`, or `conflict` if no admin would be left. */
export async function changeRole(
  stores: Stores,
  {
    unique_organization_id,
    id,
    role,
    nowMs,
  }: { unique_organization_id: string; id: string; role: Role; nowMs: number },
): Promise<User | Invitation> {
  return stores.transaction(async (set) => {
    await set.organizations.lock(unique_organization_id);
    const user = await set.users.find(id);
    if (user?.unique_organization_id === unique_organization_id) {
      if (role !== "admin") await refuseLastAdmin(set, user, "demoted");
      const changed = await set.users.setRole(unique_organization_id, id, role);
      if (changed !== undefined) return changed;
    }
    const now = new Date(nowMs).toISOString();
    const invitation = await set.invitations.setRole(unique_organization_id, id, role, now);
    if (invitation === undefined) throw memberNotFound();
    return invitation;
  });
}

/**
 * Ends a membership with its sessions, tokens and temporary keys, immediately on every node, or withdraws an
 * invitation. Throws `not_found`, or `conflict` if no admin would be left.
 */
export async function removeMember(stores: Stores, unique_organization_id: string, id: string): Promise<void> {
  await stores.transaction(async (set) => {
    await set.organizations.lock(unique_organization_id);
    const user = await set.users.find(id);
    if (user?.unique_organization_id !== unique_organization_id) {
      if (await set.invitations.delete(unique_organization_id, id)) return;
      throw memberNotFound();
    }
    await refuseLastAdmin(set, user, "removed");
    if (!(await set.users.remove(unique_organization_id, id))) throw memberNotFound();
  });
}

async function refuseLastAdmin(
  { users, instance }: ControlStoreSet,
  user: User,
  what: "demoted" | "removed",
): Promise<void> {
  // Another instance admin may be removed from another organization at the same moment.
  if (what === "removed" && user.is_instance_admin) await instance.lock();
  const left = await users.countOtherAdmins(user.unique_organization_id, user.id);
  if (user.role === "admin" && left.ofOrganization === 0) {
    throw new ServiceError("conflict", `The last admin cannot be ${what}: make somebody else an admin first.`);
  }
  if (what === "removed" && user.is_instance_admin && left.ofInstance === 0) {
    throw new ServiceError("conflict", "The last instance admin cannot be removed.");
  }
}

function memberNotFound(): ServiceError {
  return new ServiceError("not_found", "There is no such member.");
}
