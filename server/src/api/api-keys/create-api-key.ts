import { z } from "zod";
import { makeApiKey } from "../../auth/make-api-key.ts";
import { defaultKeyPermissions, expandPermissions } from "../../domain/permissions.ts";
import { ServiceError } from "../../domain/errors.ts";
import { environments } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { ApiKeyStore } from "../../storage/control/api-key-store.ts";
import { nameSchema } from "../organizations/schemas.ts";
import { apiKeySchema, expirySchema, keyPermissionsSchema, presentApiKey, requireFuture } from "./schemas.ts";

export const createApiKey = (deps: { apiKeys: Pick<ApiKeyStore, "create">; nowMs: () => number }) =>
  endpoint({
    id: "create_api_key",
    method: "POST",
    path: "/api/api-keys/",
    summary: "Create an API key",
    description: "`key` is shown only once. `permissions` default to all permissions of keys.",
    tags: ["API keys"],
    auth: "user",
    permission: "keys:manage",
    limit: "api",
    body: {
      kind: "json",
      example: { name: "Backend", environment: "prod" },
      schema: z.object({
        name: nameSchema,
        environment: z.enum(environments),
        permissions: keyPermissionsSchema.min(1).optional(),
        expires_at: expirySchema.default(null),
      }),
      shown: apiKeySchema,
    },
    success: { status: 201, schema: apiKeySchema.extend({ key: z.string() }) },
    errors: ["invalid_request", "forbidden", "conflict"],
    handler: async ({ principal, body }) => {
      requireFuture("expires_at", body.expires_at, deps.nowMs());
      const permissions = [...new Set(body.permissions ?? defaultKeyPermissions(principal.permissions))];
      const missing = [...expandPermissions(permissions)].find((permission) => !principal.permissions.has(permission));
      if (missing !== undefined) throw new ServiceError("forbidden", `You cannot give away the permission ${missing}.`);
      const { secret, record } = makeApiKey({
        unique_organization_id: principal.organization_id,
        name: body.name,
        environment: body.environment,
        permissions,
        user_id: null,
        expires_at: body.expires_at,
        createdAtMs: deps.nowMs(),
      });
      return { ...presentApiKey(await deps.apiKeys.create(record)), key: secret };
    },
  });
