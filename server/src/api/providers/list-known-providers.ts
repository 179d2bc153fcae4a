import { z } from "zod";
import type { KnownProvider, KnownProviders } from "../../gateway/credentials/known-providers.ts";
import { endpoint } from "../../http/endpoint.ts";
import { credentialSchema } from "./schemas.ts";

const knownProviderSchema = z.object({
  provider: z.string(),
  is_built_in: z.boolean().meta({ description: "false for a server from one of your settings." }),
  base_url: z.string().nullable().meta({ description: "Its base URL; null if every customer has a different one." }),
  credential_source: z.enum(["settings", "server"]).nullable().meta({
    description:
      "Where calls of this environment get their credential: your provider settings, or the environment variables of the server. null if there is none.",
  }),
  server_variable: z.string().nullable().meta({
    description: "The environment variable that gives the server a credential.",
  }),
  is_key_optional: z.boolean(),
  credential_members: z.array(z.enum(Object.keys(credentialSchema) as Array<keyof typeof credentialSchema>)).meta({
    description: "Members of a credential that it uses.",
  }),
});

export const listKnownProviders = (deps: { knownProviders: KnownProviders }) =>
  endpoint({
    id: "list_known_providers",
    method: "GET",
    path: "/api/providers/known/",
    summary: "List the known providers, and where their credentials come from",
    description:
      "Every provider that the gateway knows by name, and those from your settings, by name. Shows only where credentials come from.",
    tags: ["Providers"],
    auth: "key",
    limit: "api",
    success: { status: 200, schema: z.object({ results: z.array(knownProviderSchema) }) },
    errors: ["unavailable"],
    handler: async ({ principal }) => ({ results: (await deps.knownProviders.list(principal)).map(present) }),
  });

function present(known: KnownProvider): z.input<typeof knownProviderSchema> {
  return {
    provider: known.provider,
    is_built_in: known.isVendor,
    base_url: known.baseUrl ?? null,
    credential_source: known.source ?? null,
    server_variable: known.variable ?? null,
    is_key_optional: known.isKeyless,
    credential_members: known.members as Array<keyof typeof credentialSchema>,
  };
}
