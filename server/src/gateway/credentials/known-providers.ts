import type { KeyPrincipal } from "../../domain/principal.ts";
import { keylessProviders } from "../providers/quirks.ts";
import type { ProviderEntry } from "../routing/plan.ts";
import { builtInProvider } from "../routing/provider-table.ts";
import { ofEnvironment, type EnvironmentCredential } from "./credential-sources.ts";
import type { StoredSettings } from "./stored-settings.ts";

/** A provider that can be called, or could be with a credential. */
export type KnownProvider = {
  provider: string;
  /** Whether it is a built-in provider; otherwise a setting of the organization adds it. */
  isVendor: boolean;
  /** The vendor's own address; undefined if it differs by customer. */
  baseUrl: string | undefined;
  /** The source of the credential that a call would use now; undefined without a credential. */
  source: "settings" | "server" | undefined;
  /** The environment variable that gives the server a credential. */
  variable: string | undefined;
  /** Whether a credential without a key is enough. */
  isKeyless: boolean;
  /** The members of a credential that the provider reads. */
  members: readonly string[];
};

export type KnownProviders = {
  /** Returns the built-in providers and the providers that the settings of the environment add, sorted by name. */
  list(principal: Pick<KeyPrincipal, "organization_id" | "environment">): Promise<KnownProvider[]>;
};

export type KnownProvidersDeps = {
  providers: ReadonlyMap<string, ProviderEntry>;
  settings: Pick<StoredSettings, "of">;
  environment: ReadonlyMap<string, EnvironmentCredential>;
  /** By provider: the environment variable of its key, and the fields of its credential. */
  variables: ReadonlyMap<string, { name: string; fields: readonly string[] }>;
};

export function createKnownProviders(deps: KnownProvidersDeps): KnownProviders {
  const { providers, settings, environment, variables } = deps;
  return {
    list: async (principal) => {
      const stored = providersServing(await settings.of(principal.organization_id), principal.environment);
      const names = new Set([...providers.keys(), ...stored]);
      names.delete(builtInProvider);
      return [...names].toSorted().map((provider) => {
        const entry = providers.get(provider);
        const isOfServer = entry !== undefined && environment.has(provider);
        return {
          provider,
          isVendor: entry !== undefined,
          baseUrl: typeof entry?.baseUrl === "string" ? entry.baseUrl : undefined,
          source: stored.has(provider) ? "settings" : isOfServer ? "server" : undefined,
          variable: variables.get(provider)?.name,
          isKeyless: entry === undefined || keylessProviders.has(provider),
          members: ["api_key", "base_url", ...(variables.get(provider)?.fields ?? [])],
        };
      });
    },
  };
}

/** Providers with a setting that serves calls of the environment. */
function providersServing(
  settings: Awaited<ReturnType<StoredSettings["of"]>>,
  environment: KeyPrincipal["environment"],
): ReadonlySet<string> {
  const providers = new Set(settings.map(({ provider }) => provider));
  const serving = [...providers].filter((name) => {
    const own = settings.filter(({ provider }) => provider === name);
    return ofEnvironment(own, environment, new Set()).length > 0;
  });
  return new Set(serving);
}
