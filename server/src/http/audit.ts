import type { Principal } from "../domain/principal.ts";
import { isObject } from "../lib/json.ts";
import type { AnyEndpoint, Context } from "./endpoint.ts";

/** An action that succeeded, for the audit log. */
export type AuditedAction = {
  principal: Principal;
  /** The endpoint's id. */
  action: string;
  target: string | null;
  /** The principal's own, or the one that an instance admin changed; null if the change concerns all. */
  organizationId: string | null;
  /** The body as sent; it may contain secrets. */
  sent: unknown;
  ip: string;
  requestId: string;
};

/**
 * Writes an action to the audit log. Never rejects: the action has already succeeded, even if the entry cannot be
 * written.
 */
export type Audit = (action: AuditedAction) => Promise<void>;

export function auditedAction(
  { id, auditTarget }: AnyEndpoint,
  context: Context,
  principal: Principal,
  result: unknown,
): AuditedAction {
  const params = isObject(context.params) ? context.params : {};
  const isOfInstance = isObject(context.query) && context.query["scope"] === "instance";
  return {
    principal,
    action: id,
    target: auditTarget?.(context) ?? targetOf(params, result),
    organizationId: isOfInstance ? null : (textOf(params["unique_organization_id"]) ?? principal.organization_id),
    sent: context.body,
    ip: context.ip,
    requestId: context.requestId,
  };
}

/** The last path parameter, else the id of the resource that was created. */
function targetOf(params: Record<string, unknown>, result: unknown): string | null {
  const named = Object.values(params).at(-1);
  if (named !== undefined) return textOf(named) ?? null;
  const made = isObject(result) ? result : {};
  return textOf(made["id"]) ?? textOf(made["unique_organization_id"]) ?? null;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
