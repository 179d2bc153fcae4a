import { z } from "zod";
import type { CachingAuthenticator } from "../../auth/authenticator.ts";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { definedFields } from "../../lib/defined-fields.ts";
import type { ApiKeyStore } from "../../storage/control/api-key-store.ts";
import { nameSchema } from "../organizations/schemas.ts";
import { apiKeySchema, expirySchema, presentApiKey, requireFuture } from "./schemas.ts";

export const updateApiKey = (deps: {
  apiKeys: Pick<ApiKeyStore, "update">;
  authenticator: Pick<CachingAuthenticator, "evictKey">;
  nowMs: () => number;
}) =>
  endpoint({
    id: "update_api_key",
    method: "PATCH",
    path: "/api/api-keys/{id}/",
    summary: "Rename an API key, or change its expiry",
    description:
      "Omitted members keep their value. This node applies a new `expires_at` immediately, other nodes within 30 seconds. The permissions of a key cannot change: create another key.",
    tags: ["API keys"],
    auth: "user",
    permission: "keys:manage",
    limit: "api",
    params: z.object({ id: z.uuid() }),
    body: {
      kind: "json",
      schema: z.object({ name: nameSchema.optional(), expires_at: expirySchema.optional() }),
      shown: apiKeySchema,
      example: { expires_at: "2100-01-01T00:00:00Z" },
    },
    success: { status: 200, schema: apiKeySchema },
    errors: ["invalid_request", "not_found"],
    handler: async ({ principal, params, body }) => {
      requireFuture("expires_at", body.expires_at, deps.nowMs());
      const now = new Date(deps.nowMs()).toISOString();
      const changed = await deps.apiKeys.update(principal.organization_id, params.id, definedFields(body), now);
      if (changed === undefined) throw new ServiceError("not_found", "There is no such API key.");
      deps.authenticator.evictKey(changed.hash);
      return presentApiKey(changed.key);
    },
  });
