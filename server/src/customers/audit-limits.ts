import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { CustomerFields, CustomerKey } from "../domain/customer.ts";
import type { AuditStore } from "../storage/control/audit-store.ts";

/** `callId`: the id of the call's span, which names the API key; undefined for a call that needs no admission. */
export type ChangedLimits = { key: CustomerKey; changes: Partial<CustomerFields>; callId: string | undefined };

/** Writes to the audit log that a call changed the limits of its customer. Never rejects: the change is stored. */
export type AuditLimits = (changed: ChangedLimits) => Promise<void>;

export function createLimitAudit(deps: {
  auditLog: Pick<AuditStore, "add">;
  now: () => number;
  logger: Logger;
}): AuditLimits {
  return async ({ key, changes, callId }) => {
    try {
      await deps.auditLog.add({
        id: randomUUID(),
        unique_organization_id: key.organization_id,
        created_at: new Date(deps.now()).toISOString(),
        actor_type: "key",
        actor_id: null,
        actor_name: "gateway call",
        action: "update_customer",
        target: key.customer_identifier,
        environment: key.environment,
        changes,
        ip: null,
        request_id: callId ?? null,
      });
    } catch (error) {
      deps.logger.error({ err: error, call: callId }, "a change of a customer could not be written to the audit log");
    }
  };
}
