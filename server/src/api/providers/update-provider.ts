import { z } from "zod";
import type { ProviderSettings } from "../../gateway/credentials/provider-settings.ts";
import { requireOwnEnvironment } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { RefusalOf } from "../../outgoing/refused-address.ts";
import {
  credentialSchema,
  presentSetting,
  settingParams,
  settingSchema,
  splitCredential,
  traitsSchema,
} from "./schemas.ts";

export const updateProvider = (deps: {
  providerSettings: Pick<ProviderSettings, "find" | "update">;
  refusalOf: RefusalOf;
}) =>
  endpoint({
    id: "update_provider",
    method: "PATCH",
    path: "/api/providers/{id}/",
    summary: "Change a provider setting",
    description:
      "Omitted members keep their value; null removes a member of the credential. A change of `base_url` needs the key in the same request: a stored key is never sent to another address. Other nodes follow within 5 seconds.",
    tags: ["Providers"],
    auth: "key",
    permission: "providers:write",
    environment: "own",
    limit: "api",
    params: settingParams,
    body: {
      kind: "json",
      example: { available_models: ["lab-1", "lab-2"] },
      schema: z.strictObject({ ...z.object(traitsSchema).partial().shape, ...credentialSchema }),
    },
    success: { status: 200, schema: settingSchema },
    errors: ["not_found", "conflict"],
    handler: async ({ principal, params, body }) => {
      const { credential, rest } = splitCredential(body);
      const found = await deps.providerSettings.find(principal.organization_id, params.id);
      requireOwnEnvironment(principal, found.environment, "this setting");
      if (rest.environment !== undefined) requireOwnEnvironment(principal, rest.environment, "the setting you ask for");
      const change = { ...rest, credential };
      return presentSetting(await deps.providerSettings.update(principal.organization_id, params.id, change), deps);
    },
  });
