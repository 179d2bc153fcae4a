import { ServiceError } from "../../domain/errors.ts";
import { weightedOrder } from "../../lib/weighted-order.ts";
import { gatewayLimits } from "../limits.ts";
import type { Catalogue } from "../models/catalogue.ts";
import type { RoutedCall, RoutingParams, WeightedModel } from "./plan.ts";
import { providerName } from "./provider-names.ts";

/** A model name that may serve the call, and the parameter that named it. */
export type Candidate = {
  name: string;
  /** The parameter to name in errors about this model. */
  param: "model" | "models" | "fallback_models" | "load_balance_group" | "load_balance_models";
  /** Credentials of a member of a load balancing group, for that member only. */
  credentials?: Readonly<Record<string, unknown>>;
};

/**
 * The model names of a call in the order in which they are tried, without duplicates: the members of a load balancing
 * group in a weighted random order, which replace `model`; else `model` and then `models`; then `fallback_models`. With
 * `disable_fallback` only the first.
 * @throws ServiceError `invalid_request` naming the parameter
 */
export function listCandidates(call: RoutedCall, random: () => number): Candidate[] {
  const { params } = call;
  const named = [...firstChoices(call, random), ...listed("fallback_models", params.fallback_models)];
  if (named.length === 0) throw badParam("model", "No model is named.");
  if (named.length === 1 && params.exclude_models === undefined) return named;
  const names = new Set<string>();
  const all = named.filter(({ name, credentials }) => {
    // Two members of a group may be one model with different credentials.
    const key = credentials === undefined ? name : `${name}\u0000${JSON.stringify(credentials)}`;
    return !names.has(key) && names.add(key);
  });
  const excluded = new Set(params.exclude_models);
  const candidates = all.filter(({ name }) => !excluded.has(name));
  if (candidates.length === 0) throw badParam("exclude_models", "exclude_models leaves no model to call.");
  if (candidates.length > gatewayLimits.modelsPerCall) {
    throw badParam(
      candidates.at(-1)?.param ?? "models",
      `A call may name ${gatewayLimits.modelsPerCall} models at most.`,
    );
  }
  return params.disable_fallback ? candidates.slice(0, 1) : candidates;
}

function firstChoices({ model, params }: RoutedCall, random: () => number): Candidate[] {
  const group = membersOf(params);
  if (group !== undefined) {
    return weightedOrder(group.members, ({ weight }) => weight ?? 1, random).map(({ model, credentials }) => ({
      name: model,
      param: group.param,
      ...(credentials && { credentials }),
    }));
  }
  const own: Candidate[] = model === "" ? [] : [{ name: model, param: "model" }];
  return [...own, ...listed("models", params.models)];
}

function membersOf(
  params: RoutingParams,
): { param: "load_balance_group" | "load_balance_models"; members: readonly WeightedModel[] } | undefined {
  const { load_balance_group: group, load_balance_models: models } = params;
  if (models !== undefined && models.length > 0) return { param: "load_balance_models", members: models };
  if (group === undefined) return undefined;
  if (group.models === undefined || group.models.length === 0) {
    throw badParam(
      "load_balance_group",
      'load_balance_group names a stored group, and groups are not stored here: list its members, as in {"models": [{"model": "gpt-4o", "weight": 1}]}.',
    );
  }
  return { param: "load_balance_group", members: group.models };
}

function listed(param: Candidate["param"], names: readonly string[] | undefined): Candidate[] {
  return (names ?? []).map((name) => ({ name, param }));
}

/** Providers that the call must not use, by their canonical names. */
export function excludedProviders(params: RoutingParams): readonly string[] {
  return params.exclude_providers?.map(providerName) ?? [];
}

export function badParam(param: string, message: string): ServiceError {
  return new ServiceError("invalid_request", message, { errors: { [param]: [message] } });
}

/** A model, by the name that `provider` uses for it. */
export type ModelAt = { provider: string; model: string };

type ResolverDeps = {
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
