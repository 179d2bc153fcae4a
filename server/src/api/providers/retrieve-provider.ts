import type { ProviderSettings } from "../../gateway/credentials/provider-settings.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { RefusalOf } from "../../outgoing/refused-address.ts";
import { presentSetting, settingParams, settingSchema } from "./schemas.ts";

export const retrieveProvider = (deps: { providerSettings: Pick<ProviderSettings, "find">; refusalOf: RefusalOf }) =>
  endpoint({
    id: "retrieve_provider",
    method: "GET",
    path: "/api/providers/{id}/",
    summary: "Retrieve a provider setting",
    description: "Without secrets.",
    tags: ["Providers"],
    auth: "key",
    permission: "providers:read",
    limit: "api",
    params: settingParams,
    success: { status: 200, schema: settingSchema },
    errors: ["not_found"],
    handler: async ({ principal, params }) =>
      presentSetting(await deps.providerSettings.find(principal.organization_id, params.id), deps),
  });
