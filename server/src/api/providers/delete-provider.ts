import type { ProviderSettings } from "../../gateway/credentials/provider-settings.ts";
import { requireOwnEnvironment } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { settingParams } from "./schemas.ts";

export const deleteProvider = (deps: { providerSettings: Pick<ProviderSettings, "find" | "delete"> }) =>
  endpoint({
    id: "delete_provider",
    method: "DELETE",
    path: "/api/providers/{id}/",
    summary: "Delete a provider setting",
    description: "This node stops using it immediately, other nodes within 5 seconds.",
    tags: ["Providers"],
    auth: "key",
    permission: "providers:write",
    environment: "own",
    limit: "api",
    params: settingParams,
    success: { status: 204 },
    errors: ["not_found"],
    handler: async ({ principal, params }) => {
      const { environment } = await deps.providerSettings.find(principal.organization_id, params.id);
      requireOwnEnvironment(principal, environment, "this setting");
      await deps.providerSettings.delete(principal.organization_id, params.id);
      return reply(204);
    },
  });
