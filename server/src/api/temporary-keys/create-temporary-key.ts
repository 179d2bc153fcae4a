import { z } from "zod";
import { makeApiKey } from "../../auth/make-api-key.ts";
import { defaultKeyPermissions } from "../../domain/permissions.ts";
import { environments } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { limits } from "../../limits.ts";
import type { ApiKeyStore } from "../../storage/control/api-key-store.ts";

export const createTemporaryKey = (deps: { apiKeys: Pick<ApiKeyStore, "create">; nowMs: () => number }) =>
  endpoint({
    id: "create_temporary_key",
    method: "POST",
    path: "/api/temporary-keys/",
    summary: "Trade an access token for a key of one environment",
    description: "The key is good for an hour, and for what its maker's role may do.",
    tags: ["API keys"],
    auth: "user",
    limit: "api",
    body: { kind: "json", schema: z.object({ environment: z.enum(environments) }), example: { environment: "prod" } },
    success: {
      status: 201,
      schema: z.object({ key: z.string(), expires_at: z.string().meta({ format: "date-time" }) }),
    },
    errors: ["conflict"],
    handler: async ({ principal, body }) => {
      const nowMs = deps.nowMs();
      const expires_at = new Date(nowMs + limits.temporaryKeyMs).toISOString();
      const { secret, record } = makeApiKey({
        unique_organization_id: principal.organization_id,
        name: principal.email,
        environment: body.environment,
        permissions: defaultKeyPermissions(principal.permissions),
        user_id: principal.user_id,
        expires_at,
        createdAtMs: nowMs,
      });
      await deps.apiKeys.create(record);
      return { key: secret, expires_at };
    },
  });
