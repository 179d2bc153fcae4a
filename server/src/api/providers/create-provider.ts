import { z } from "zod";
import type { ProviderSettings } from "../../gateway/credentials/provider-settings.ts";
import { requireOwnEnvironment } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { RefusalOf } from "../../outgoing/refused-address.ts";
import { credentialSchema, presentSetting, settingSchema, splitCredential, traitsSchema } from "./schemas.ts";

export const createProvider = (deps: { providerSettings: Pick<ProviderSettings, "create">; refusalOf: RefusalOf }) =>
  endpoint({
    id: "create_provider",
    method: "POST",
    path: "/api/providers/",
    summary: "Store a credential for a provider",
    description:
      "The gateway uses it for calls of its environment. `provider` is one that the gateway knows, or a name of your own for a server with OpenAI's API at `base_url`. Keys are stored encrypted and never shown again.",
    tags: ["Providers"],
    auth: "key",
    permission: "providers:write",
    environment: "own",
    limit: "api",
    body: {
      kind: "json",
      example: {
        provider: "my-lab",
        base_url: "https://llm.example.com/v1",
        api_key: "sk-lab-0123456789",
        available_models: ["lab-1"],
      },
      schema: z.strictObject({
        provider: z.string().min(1).max(64),
        name: traitsSchema.name.optional(),
        environment: traitsSchema.environment.optional(),
        available_models: traitsSchema.available_models.default(null),
        exclude_models: traitsSchema.exclude_models.default([]),
        weight: traitsSchema.weight.default(1),
        is_enabled: traitsSchema.is_enabled.default(true),
        ...credentialSchema,
      }),
    },
    success: { status: 201, schema: settingSchema },
    errors: ["conflict"],
    handler: async ({ principal, body }) => {
      const { credential, rest } = splitCredential(body);
      const { environment = principal.environment, name = rest.provider } = rest;
      requireOwnEnvironment(principal, environment, "this setting");
      const setting = { ...rest, environment, name, credential };
      return presentSetting(await deps.providerSettings.create(principal.organization_id, setting), deps);
    },
  });
