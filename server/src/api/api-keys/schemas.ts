import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { parseTimeNs } from "../../lib/time.ts";
import type { ApiKey } from "../../domain/api-key.ts";
import { keyPermissions } from "../../domain/permissions.ts";
import { environments } from "../../domain/principal.ts";

export const keyPermissionsSchema = z.array(z.enum(keyPermissions));

export const apiKeySchema = z.object({
  id: z.string(),
  name: z.string(),
  environment: z.enum(environments),
  prefix: z.string().meta({ description: "The first characters of the key, to distinguish keys." }),
  permissions: keyPermissionsSchema,
  created_at: z.string().meta({ format: "date-time" }),
  expires_at: z
    .string()
    .nullable()
    .meta({ format: "date-time", description: "The key is refused from then on; null: it does not expire." }),
  last_used_at: z
    .string()
    .nullable()
    .meta({ format: "date-time", description: "To the minute; null if it was never used." }),
});

/** The expiry of a key, as clients send it. */
export const expirySchema = z
  .union([z.string(), z.number(), z.null()], { error: "must be an ISO 8601 date-time, or null" })
  .transform((value, context) => {
    if (value === null) return null;
    const ns = parseTimeNs(value);
    if (ns !== undefined) return new Date(Number(ns / 1_000_000n)).toISOString();
    context.addIssue({ code: "custom", message: "must be an ISO 8601 date-time, or null" });
    return z.NEVER;
  })
  .meta({ type: ["string", "null"], format: "date-time" });

/** @throws ServiceError `invalid_request` if the time is in the past */
export function requireFuture(field: string, time: string | null | undefined, nowMs: number): void {
  if (time === null || time === undefined || Date.parse(time) > nowMs) return;
  const message = "must lie in the future";
  throw new ServiceError("invalid_request", `${field} ${message}.`, { errors: { [field]: [message] } });
}

/** A key as the management routes return it. */
export function presentApiKey(key: ApiKey) {
  return {
    id: key.id,
    name: key.name,
    environment: key.environment,
    prefix: key.prefix,
    permissions: key.permissions,
    created_at: key.created_at,
    expires_at: key.expires_at,
    last_used_at: key.last_used_at,
  };
}
