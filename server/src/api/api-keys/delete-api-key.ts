import { z } from "zod";
import type { CachingAuthenticator } from "../../auth/authenticator.ts";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import type { ApiKeyStore } from "../../storage/control/api-key-store.ts";

export const deleteApiKey = (deps: {
  apiKeys: Pick<ApiKeyStore, "revoke">;
  authenticator: Pick<CachingAuthenticator, "evictKey">;
  nowMs: () => number;
}) =>
  endpoint({
    id: "delete_api_key",
    method: "DELETE",
    path: "/api/api-keys/{id}/",
    summary: "Revoke an API key",
    description: "This node refuses it immediately, other nodes within 30 seconds.",
    tags: ["API keys"],
    auth: "user",
    permission: "keys:manage",
    limit: "api",
    params: z.object({ id: z.uuid() }),
    success: { status: 204 },
    errors: ["not_found"],
    handler: async ({ principal, params }) => {
      const now = new Date(deps.nowMs()).toISOString();
      const hash = await deps.apiKeys.revoke(principal.organization_id, params.id, now);
      if (hash === undefined) throw new ServiceError("not_found", "There is no such API key.");
      deps.authenticator.evictKey(hash);
      return reply(204);
    },
  });
