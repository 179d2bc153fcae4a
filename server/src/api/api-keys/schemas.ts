import { z } from "zod";
import type { ApiKey } from "../../domain/api-key.ts";
import { keyPermissions } from "../../domain/permissions.ts";
import { environments } from "../../domain/principal.ts";

export const keyPermissionsSchema = z.array(z.enum(keyPermissions));

export const apiKeySchema = z.object({
  id: z.string(),
  name: z.string(),
  environment: z.enum(environments),
  prefix: z.string().meta({ description: "The first characters of the key, to tell keys apart." }),
  permissions: keyPermissionsSchema,
  created_at: z.string().meta({ format: "date-time" }),
});

/** A key as the management routes show it. */
export function presentApiKey(key: ApiKey) {
  return {
    id: key.id,
    name: key.name,
    environment: key.environment,
    prefix: key.prefix,
    permissions: key.permissions,
    created_at: key.created_at,
  };
}
