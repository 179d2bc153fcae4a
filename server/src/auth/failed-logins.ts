import type { User } from "../domain/user.ts";
import type { Audit } from "../http/audit.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { authLimits } from "./limits.ts";
import { userPrincipal } from "./authenticator.ts";

/**
 * Records a wrong password in the audit log of the account's organization. Bounded per account and organization, so
 * that strangers cannot flood the log. Returns immediately: a delay would reveal that the account exists.
 */
export type NoteFailedLogin = (user: User, from: { ip: string; requestId: string }) => void;

export function createFailedLogins({ audit, nowMs }: { audit: Audit; nowMs: () => number }): NoteFailedLogin {
  const options = { maxEntries: authLimits.loginAddressesTracked, nowMs };
  const accounts = new ExpiringLru<string, true>({ ...options, ttlMs: authLimits.failedLoginAuditMs });
  const organizations = new ExpiringLru<string, { entries: number }>({ ...options, ttlMs: dayMs });
  return (user, { ip, requestId }) => {
    const organizationId = user.unique_organization_id;
    const known = organizations.get(organizationId);
    const day = known ?? { entries: 0 };
    if (accounts.get(user.id) !== undefined || day.entries >= authLimits.failedLoginAuditsPerDay) return;
    accounts.set(user.id, true);
    day.entries += 1;
    if (known === undefined) organizations.set(organizationId, day);
    const entry = { principal: userPrincipal(user), action: "failed_login", target: user.id, organizationId };
    void audit({ ...entry, sent: undefined, ip, requestId });
  };
}

const dayMs = 24 * 60 * 60 * 1_000;
