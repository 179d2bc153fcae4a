import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { AuditEntry } from "../domain/audit.ts";
import type { Principal } from "../domain/principal.ts";
import type { Audit } from "../http/audit.ts";
import { isObject } from "../lib/json.ts";
import { domainLimits } from "../domain/limits.ts";
import type { AuditStore } from "../storage/control/audit-store.ts";
import type { OrganizationStore } from "../storage/control/organization-store.ts";
import type { UserStore } from "../storage/control/user-store.ts";

export function createAudit(deps: {
  auditLog: Pick<AuditStore, "add">;
  users: Pick<UserStore, "find">;
  organizations: Pick<OrganizationStore, "list">;
  nowMs: () => number;
  logger: Logger;
}): Audit {
  return async ({ principal, action, target, organizationId, sent, ip, requestId }) => {
    try {
      const entry = {
        created_at: new Date(deps.nowMs()).toISOString(),
        ...(await actorOf(deps, principal)),
        action,
        target: target === null ? null : target.slice(0, domainLimits.identifierChars),
        environment: principal.kind === "key" ? principal.environment : null,
        changes: changesOf(sent),
        ip,
        request_id: requestId,
      };
      const all =
        organizationId === null ? await deps.organizations.list() : [{ unique_organization_id: organizationId }];
      for (const { unique_organization_id } of all) {
        const isOther = organizationId === null && unique_organization_id !== principal.organization_id;
        const shown = isOther ? { ...entry, ...unnamedAdmin } : entry;
        await deps.auditLog.add({ id: randomUUID(), unique_organization_id, ...shown });
      }
    } catch (error) {
      deps.logger.error(
        { err: error, action, request_id: requestId },
        "an action could not be written to the audit log",
      );
    }
  };
}

/** Who made a change for all organizations, as the others see it: they do not learn who it was. */
const unnamedAdmin = {
  actor_type: "operator",
  actor_id: null,
  actor_name: "instance admin",
  ip: null,
  request_id: null,
} as const;

async function actorOf(
  { users }: { users: Pick<UserStore, "find"> },
  principal: Principal,
): Promise<Pick<AuditEntry, "actor_type" | "actor_id" | "actor_name">> {
  if (principal.kind === "user") {
    return { actor_type: "user", actor_id: principal.user_id, actor_name: principal.email };
  }
  const { user_id, organization_key_id, organization_key_name } = principal;
  if (user_id === undefined) {
    return { actor_type: "key", actor_id: organization_key_id, actor_name: organization_key_name };
  }
  // A temporary key acts for its user, who chose the key's name: the entry shows the user, not that name.
  const actor_name = (await users.find(user_id))?.email ?? user_id;
  return { actor_type: "user", actor_id: user_id, actor_name };
}

/**
 * Members whose values are recorded, because they cannot hold a secret. For all other members only the name is
 * recorded.
 */
const shown: ReadonlySet<string> = new Set([
  "active",
  "automation_slug",
  "budget_duration",
  "condition_slug",
  "customer_identifier",
  "email",
  "environment",
  "evaluator_slug",
  "event_type",
  "expires_at",
  "expires_in",
  "expiry_date",
  "is_enabled",
  "is_public",
  "max_usage",
  "model",
  "period_budget",
  "permissions",
  "provider",
  "rate_limit",
  "rates",
  "retention_days",
  "role",
  "test_uses_prod_providers",
  "total_budget",
  "unpriced_calls",
  "valid_from",
  "valid_to",
]);

function changesOf(sent: unknown): Record<string, unknown> {
  if (!isObject(sent)) return {};
  const members = Object.entries(sent).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members.map(([name, value]) => [name, shown.has(name) ? value : null]));
}
