import type { ProviderSettings } from "../../gateway/credentials/provider-settings.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { settingParams } from "./schemas.ts";

export const deleteProvider = (deps: { providerSettings: Pick<ProviderSettings, "delete"> }) =>
  endpoint({
    id: "delete_provider",
    method: "DELETE",
    path: "/api/providers/{id}/",
    summary: "Delete a provider setting",
    description: "This node uses it no more from now on, other nodes within 5 seconds.",
    tags: ["Providers"],
    auth: "key",
    permission: "settings:write",
    limit: "api",
    params: settingParams,
    success: { status: 204 },
    errors: ["not_found"],
    handler: async ({ principal, params }) => {
      await deps.providerSettings.delete(principal.organization_id, params.id);
      return reply(204);
    },
  });
