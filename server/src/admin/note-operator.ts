import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import type { AdminContext } from "./command.ts";

/** Writes an action of an operator on the command line to the organization's audit log. */
export async function noteOperator(
  { stores, nowMs }: Pick<AdminContext, "stores" | "nowMs">,
  done: { organization: string; action: string; target: string | null; changes?: Record<string, unknown> },
): Promise<void> {
  await stores.auditLog.add({
    id: randomUUID(),
    unique_organization_id: done.organization,
    created_at: new Date(nowMs()).toISOString(),
    actor_type: "operator",
    actor_id: null,
    actor_name: operatorName(),
    action: done.action,
    target: done.target,
    environment: null,
    changes: done.changes ?? {},
    ip: null,
    request_id: null,
  });
}

/** The user account of the operating system, which containers may not have. */
function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    return "operator";
  }
}
