import type { Catalogue } from "../models/catalogue.ts";
import { providerName } from "./provider-names.ts";

/** A model, by the name that `provider` uses for it. */
export type ModelAt = { provider: string; model: string };

export type ResolverDeps = {
  catalogue: Catalogue;
  /** Whether this call can use such a provider: a known one, or one that the organization or the caller defines. */
  isProvider: (name: string) => boolean;
  /**
   * Where models that no catalogue lists are sent: a provider whose address the operator has set to their own server.
   */
  ownServer: string | undefined;
};

/** Providers whose own model names have a vendor before a slash: `openai/gpt-oss-120b` is Groq's name. */
const resellers: ReadonlySet<string> = new Set([
  "openrouter",
  "together",
  "fireworks",
  "groq",
  "cerebras",
  "ollama",
  "vllm",
  "lmstudio",
  "llamacpp",
  "nvidia",
  "huggingface",
  "deepinfra",
  "nebius",
  "novita",
  "hyperbolic",
  "baseten",
  "sambanova",
  "cloudflare",
  "github",
]);

/**
 * Vendors whose models others sell under names that begin with the vendor: `cohere/command-a` is also OpenRouter's
 * name.
 */
const resold: ReadonlySet<string> = new Set(["moonshot", "minimax", "cohere", "nvidia"]);

/**
 * The providers that may serve a model name, most preferred first; empty for an unknown name.
 * @param pin the provider that the caller requires; a prefix of the name then does not select the provider
 */
export function resolveModel(name: string, pin: string | undefined, deps: ResolverDeps): ModelAt[] {
  const { prefix, rest } = splitName(name);

  if (pin !== undefined) {
    const isForeign = prefix !== undefined && deps.isProvider(prefix) && !resellers.has(pin);
    return [{ provider: pin, model: prefix === pin || isForeign ? rest : name }];
  }
  if (prefix !== undefined && rest !== "" && deps.isProvider(prefix)) {
    const own = { provider: prefix, model: rest };
    if (!resold.has(prefix)) return [own];
    const others = deps.catalogue.providersOf(name).filter(deps.isProvider);
    return [own, ...others.map((provider) => ({ provider, model: name }))];
  }
  const sellers = deps.catalogue.providersOf(name).filter(deps.isProvider);
  if (sellers.length > 0) return sellers.map((provider) => ({ provider, model: name }));
  return deps.ownServer === undefined ? [] : [{ provider: deps.ownServer, model: name }];
}

/**
 * A model's name without the provider prefix: the provider's own name for it, which spans of answered calls also use.
 * @param isProvider whether a prefix, in its canonical spelling, is a provider
 */
export function modelName(name: string, isProvider: (name: string) => boolean): string {
  const { prefix, rest } = splitName(name);
  return prefix !== undefined && rest !== "" && isProvider(prefix) ? rest : name;
}

function splitName(name: string): { prefix: string | undefined; rest: string } {
  const slash = name.indexOf("/");
  return { prefix: slash > 0 ? providerName(name.slice(0, slash)) : undefined, rest: name.slice(slash + 1) };
}
