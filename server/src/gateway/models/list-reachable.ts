import type { KeyPrincipal } from "../../domain/principal.ts";
import { ofEnvironment, type EnvironmentCredential } from "../credentials/credential-sources.ts";
import type { StoredSettings } from "../credentials/stored-settings.ts";
import { servesModel, type UsableCredential } from "../credentials/usable-credential.ts";
import type { ProviderEntry } from "../routing/plan.ts";
import { builtInProvider } from "../routing/provider-table.ts";
import type { Catalogue, CatalogueModel } from "./catalogue.ts";

/** A model that a caller may name. `id` is what to write as `model`. */
export type ReachableModel = { id: string; provider: string };

export type ModelLister = {
  /** The models that the caller's credentials reach, from the catalogue and from settings; sorted by id. */
  list(
    principal: Pick<KeyPrincipal, "organization_id" | "environment">,
    betas: ReadonlySet<string>,
  ): Promise<ReachableModel[]>;
  /** The whole catalogue, with its prices at a time in milliseconds since the epoch. */
  known(atMs: number): KnownModel[];
};

/** Catalogue data of a model; prices in USD per million tokens. */
export type KnownModel = CatalogueModel & { provider: string };

export type ModelListerDeps = {
  providers: ReadonlyMap<string, ProviderEntry>;
  catalogue: Catalogue;
  settings: StoredSettings;
  environment: ReadonlyMap<string, EnvironmentCredential>;
};

export function createModelLister({ providers, catalogue, settings, environment }: ModelListerDeps): ModelLister {
  return {
    known: (atMs) =>
      catalogue.providers.flatMap((provider) =>
        catalogue.pricedModelsOf(provider, atMs).map((model) => ({ ...model, provider })),
      ),
    list: async ({ organization_id, environment: keyEnvironment }, betas) => {
      const stored = await settings.of(organization_id);
      const names = new Set([...environment.keys(), ...stored.map(({ provider }) => provider)]);
      const reachable = new Map<string, ReachableModel>();
      const add = (provider: string, model: string): void => {
        const id = `${provider}/${model}`;
        reachable.set(id, { id, provider });
      };
      add(builtInProvider, "echo");
      for (const provider of names) {
        const own = ofEnvironment(
          stored.filter((setting) => setting.provider === provider),
          keyEnvironment,
          betas,
        );
        if (own.length === 0 && !(environment.has(provider) && providers.has(provider))) continue;
        for (const model of modelsOf(provider, own, catalogue)) add(provider, model);
      }
      return [...reachable.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    },
  };
}

/** The provider's catalogue models that settings allow, and the models that settings list. */
function modelsOf(provider: string, settings: readonly UsableCredential[], catalogue: Catalogue): string[] {
  const known = catalogue.modelsOf(provider).map(({ id }) => id);
  if (settings.length === 0) return known;
  const listed = settings
    .flatMap(({ availableModels }) => availableModels ?? [])
    .map((name) => withoutPrefix(name, provider));
  return [...new Set([...known, ...listed])].filter((model) =>
    settings.some((setting) => servesModel(setting, [model, `${provider}/${model}`])),
  );
}

function withoutPrefix(name: string, provider: string): string {
  return name.startsWith(`${provider}/`) ? name.slice(provider.length + 1) : name;
}
