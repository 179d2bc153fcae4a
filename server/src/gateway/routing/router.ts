import { createHmac, hash, randomBytes } from "node:crypto";
import type { ServiceError } from "../../domain/errors.ts";
import { callerProviders, findCredentials, type EnvironmentCredential } from "../credentials/credential-sources.ts";
import type { OpenSetting, StoredSettings, UnreadableSetting } from "../credentials/stored-settings.ts";
import type { UsableCredential } from "../credentials/usable-credential.ts";
import type { Catalogue } from "../models/catalogue.ts";
import type { RelayedOperation } from "../providers/provider.ts";
import type { Operation } from "../providers/quirks.ts";
import {
  badParam,
  excludedProviders,
  listCandidates,
  modelName,
  resolveModel,
  type Candidate,
  type ModelAt,
} from "./candidates.ts";
import { lostCredential, noCredential } from "./no-credential.ts";
import type { Attempt, Plan, ProviderEntry, RoutedCall } from "./plan.ts";
import { providerName } from "./provider-names.ts";
import { customProvider, quirksAt } from "./provider-table.ts";
import { readRetryPolicy, runPlan, type PlannedModel, type PlanDeps } from "./run-plan.ts";

export type Router = {
  /**
   * Plans where a call may go.
   * @param signal aborted when the client disconnects
   * @throws ServiceError `invalid_request` for an invalid parameter, such as an unknown model or provider;
   * `no_credential` if no provider that could serve the call has a credential
   */
  plan(call: RoutedCall, signal: AbortSignal): Promise<Plan>;
  /** All keys of OpenAI-shaped providers that similar calls may have used, per provider in the order of a call. */
  keys(call: Omit<RoutedCall, "model" | "operation">): Promise<ProviderKey[]>;
  /** Whether a provider setting of the organization lists the model. */
  lists(organizationId: string, model: string): Promise<boolean>;
  /** The name to record for a model if its call has no plan. */
  modelName(name: string): string;
};

/** `isShared`: every organization of the instance uses it. `isVendor`: it belongs to a known provider. */
export type ProviderKey = { attempt: Attempt; isShared: boolean; isVendor: boolean };

export type RouterDeps = PlanDeps & {
  providers: ReadonlyMap<string, ProviderEntry>;
  catalogue: Catalogue;
  settings: StoredSettings;
  /** By provider. Providers without environment variables are absent. */
  environment: ReadonlyMap<string, EnvironmentCredential>;
  /** The key of the hash for key marks: the same on every node. */
  markKey: Uint8Array;
  /** The environment variable for the key of a provider, by provider name. */
  keyVariables: ReadonlyMap<string, string>;
};

export function createRouter(deps: RouterDeps): Router {
  const idKey = randomBytes(32).toString("base64url");
  return {
    async plan(call, signal) {
      const settings = await deps.settings.of(call.organizationId);
      const plannedModels = new ModelPlanner(deps, call, settings, idKey).findAll();
      const policy = readRetryPolicy(call.params);
      if (call.operation !== "responses") return runPlan(plannedModels, policy, deps, signal);
      const keys = new Set(plannedModels.flatMap(({ attempts }) => attempts.map(({ keyMark }) => keyMark)));
      const hasManyKeys = keys.size > 1 || call.keyMark !== undefined;
      return { ...runPlan(plannedModelsOfMark(plannedModels, call), policy, deps, signal), hasManyKeys };
    },
    async keys(call) {
      const settings = await deps.settings.of(call.organizationId);
      return new ModelPlanner(deps, { ...call, model: "", operation: "responses" }, settings, idKey).findKeys();
    },
    async lists(organizationId, model) {
      const settings = await deps.settings.of(organizationId);
      return settings.some(({ availableModels }) => availableModels?.includes(model) === true);
    },
    modelName: (name) => modelName(name, (provider) => deps.providers.has(provider)),
  };
}

/** Keeps the attempts with the key of the call's key mark. @throws ServiceError if that key is not available */
function plannedModelsOfMark(plannedModels: readonly PlannedModel[], { keyMark }: RoutedCall): readonly PlannedModel[] {
  if (keyMark === undefined) return plannedModels;
  const bound = plannedModels
    .map(({ model, attempts }) => ({
      model,
      attempts: attempts.filter((attempt) => attempt.keyMark === keyMark.value),
    }))
    .filter(({ attempts }) => attempts.length > 0);
  if (bound.length > 0) return bound;
  throw badParam(
    keyMark.param,
    `${keyMark.param} refers to something that was created with a provider key that is no longer stored or does not serve this model, and no other key can continue it. Send the whole conversation as input instead, without it.`,
  );
}

/** Finds the providers of the models of one call, and their credentials. */
class ModelPlanner {
  readonly #deps: RouterDeps;
  readonly #call: RoutedCall;
  readonly #settings: readonly OpenSetting[];
  readonly #idKey: string;
  readonly #brought: readonly string[];
  readonly #excluded: readonly string[];
  readonly #pin: string | undefined;

  constructor(deps: RouterDeps, call: RoutedCall, settings: readonly OpenSetting[], idKey: string) {
    this.#deps = deps;
    this.#call = call;
    this.#settings = settings;
    this.#idKey = idKey;
    this.#brought = [...callerProviders(call.params), ...settings.map(({ provider }) => provider)];
    this.#excluded = excludedProviders(call.params);
    this.#pin = this.#readPin();
  }

  findAll(): PlannedModel[] {
    const plannedModels: PlannedModel[] = [];
    const missing: Array<{ candidate: Candidate; place: ModelAt }> = [];
    for (const candidate of listCandidates(this.#call, this.#deps.random)) {
      const places = this.#placesOf(candidate);
      const planned = this.#planModel(candidate, places);
      if (planned !== undefined) plannedModels.push(planned);
      else if (places[0] !== undefined) missing.push({ candidate, place: places[0] });
    }
    if (plannedModels.length > 0) return plannedModels;
    const [first] = missing;
    if (first === undefined) throw badParam("exclude_providers", "exclude_providers leaves no model to call.");
    // Others may sell it, but its name refers to its maker.
    const { candidate, place } = first;
    if (!this.#isAble(place.provider)) throw this.#unservable(candidate, place.provider);
    throw this.#withoutCredential(place);
  }

  findKeys(): ProviderKey[] {
    const { providers, environment, random } = this.#deps;
    const all = this.#pin === undefined ? new Set([...providers.keys(), ...this.#brought]) : [this.#pin];
    return [...all].flatMap((provider) => {
      const entry = this.#entry(provider);
      if (entry.translator !== undefined || entry.baseUrl === "" || this.#excluded.includes(provider)) return [];
      const found = findCredentials({
        call: this.#call,
        provider,
        names: [],
        member: undefined,
        settings: this.#settings,
        fromEnvironment: environment.get(provider),
        random,
      });
      return found.flatMap((usable) => {
        const attempt = this.#attempt("", { provider, model: "" }, entry, usable);
        return attempt === undefined
          ? []
          : [{ attempt, isShared: usable.source === "environment", isVendor: providers.has(provider) }];
      });
    });
  }

  /** The places that the candidate's name resolves to, without the providers that the call excludes. */
  #placesOf(candidate: Candidate): ModelAt[] {
    const places = this.#resolve(candidate);
    if (places.length === 0) {
      const lost = lostCredential(this.#unreadable(), { model: candidate.name });
      if (lost !== undefined) throw lost;
      const message = `${candidate.param} names an unknown model: ${candidate.name}. Name its provider, as in openai/${candidate.name}.`;
      throw badParam(candidate.param, message);
    }
    // Only `model` must be servable here: fallbacks that are not are skipped.
    if (candidate.param === "model" && !places.some(({ provider }) => this.#isAble(provider))) {
      throw this.#unservable(candidate, places[0]?.provider ?? "");
    }
    return places.filter(({ provider }) => !this.#excluded.includes(provider));
  }

  /** Translated providers serve chat only, plus the native operations that they relay. */
  #isAble(provider: string): boolean {
    const { operation } = this.#call;
    if (operation === "chat") return true;
    const { translator } = this.#entry(provider);
    return isRelayed(operation) ? translator?.relays?.has(operation) === true : translator === undefined;
  }

  #withoutCredential(place: ModelAt): ServiceError {
    const { keyVariables, catalogue } = this.#deps;
    const keyVariable = keyVariables.get(place.provider);
    const listed = catalogue.modelsOf(place.provider);
    const isCatalogued = listed.length === 0 || listed.some(({ id }) => id === place.model);
    const known = { settings: this.#settings, keyVariable, isCatalogued };
    return lostCredential(this.#unreadable(), place) ?? noCredential(place, known);
  }

  #unreadable(): readonly UnreadableSetting[] {
    return this.#deps.settings.unreadable(this.#call.organizationId);
  }

  #unservable({ name, param }: Candidate, provider: string): ServiceError {
    const { operation } = this.#call;
    if (isRelayed(operation))
      return badParam(param, this.#servedBy(operation, `${param} names ${name} of ${provider}`));
    const message = `${param} names ${name}, but of ${provider} only chat completions are available here: no ${operation}.`;
    return badParam(param, message);
  }

  /** The message about the models that a route for a native operation serves. */
  #servedBy(operation: RelayedOperation, model: string): string {
    const { catalogue, providers } = this.#deps;
    const served = [...providers.keys()].filter((provider) => this.#isAble(provider));
    const models = served.flatMap((provider) => catalogue.modelsOf(provider).map(({ id }) => id));
    const others = models.length > shownModels ? ` and ${models.length - shownModels} more` : "";
    return (
      `${model}, but this route passes ${operation} on to ${served.join(", ")} alone, ` +
      `for models such as ${models.slice(-shownModels).join(", ")}${others}. Ask for other models at /v1/chat/completions.`
    );
  }

  /**
   * The first of several providers that has a credential serves the model. Its credentials substitute for each other.
   */
  #planModel(candidate: Candidate, places: readonly ModelAt[]): PlannedModel | undefined {
    for (const place of places) {
      const attempts = this.#isAble(place.provider) ? this.#attemptsAt(candidate, place) : [];
      if (attempts.length > 0) return { model: candidate.name, attempts };
    }
    return undefined;
  }

  #resolve({ name, param }: Candidate): ModelAt[] {
    const { catalogue, environment } = this.#deps;
    const isProvider = (provider: string): boolean => this.#isProvider(provider);
    const hasPrefix = name.includes("/") && isProvider(providerName(name.slice(0, name.indexOf("/"))));
    // The pin applies to `model`. Another name may have its own provider prefix.
    const pin = param === "model" || !hasPrefix ? this.#pin : undefined;
    const listed =
      pin === undefined && !hasPrefix
        ? this.#settings.filter((setting) => setting.availableModels?.includes(name))
        : [];
    // An unknown name may be a newer model of the only provider with this operation.
    const ownServer = isRelayed(this.#call.operation)
      ? [...this.#deps.providers.keys()].find((provider) => this.#isAble(provider))
      : environment.get("openai")?.baseUrl === undefined
        ? undefined
        : "openai";
    return [
      ...listed.map(({ provider }) => ({ provider, model: name })),
      ...resolveModel(name, pin, { catalogue, isProvider, ownServer }),
    ];
  }

  #attemptsAt({ name, credentials, param }: Candidate, { provider, model }: ModelAt): Attempt[] {
    const entry = this.#entry(provider);
    const upstream = provider === "azure" ? this.#deploymentOf(name, model) : model;
    const found =
      entry.baseUrl === ""
        ? [keyless]
        : findCredentials({
            call: this.#call,
            provider,
            names: [name, model, upstream],
            member: credentials && { credentials, param },
            settings: this.#settings,
            fromEnvironment: this.#deps.environment.get(provider),
            random: this.#deps.random,
          });
    return found.flatMap((usable) => this.#attempt(name, { provider, model: upstream }, entry, usable) ?? []);
  }

  /** Undefined if no base URL is known for the provider. */
  #attempt(
    name: string,
    { provider, model }: ModelAt,
    entry: ProviderEntry,
    usable: UsableCredential,
  ): Attempt | undefined {
    const { credential } = usable;
    const operatorUrl = usable.baseUrl === undefined ? this.#deps.environment.get(provider)?.baseUrl : undefined;
    const vendorUrl = typeof entry.baseUrl === "function" ? entry.baseUrl(credential) : entry.baseUrl;
    const baseUrl = usable.baseUrl ?? operatorUrl ?? vendorUrl ?? regionUrl(provider, credential.fields["region"]);
    if (baseUrl === undefined) return undefined;
    return {
      model: name,
      target: { provider, model, baseUrl, credential },
      translator: entry.translator,
      quirks: entry === customProvider ? (quirksAt(baseUrl) ?? entry.quirks) : entry.quirks,
      credentialId: this.#credentialId([
        provider,
        model,
        baseUrl,
        credential.apiKey ?? "",
        JSON.stringify(credential.fields),
      ]),
      keyMark: this.#keyMarkOf(provider, usable),
      isCallerHost: usable.isCallerHost,
      isOperatorHost: operatorUrl !== undefined,
    };
  }

  /** A stored key that is replaced in place keeps its mark: what its account created stays usable. */
  #keyMarkOf(provider: string, { source, credential }: UsableCredential): string {
    if (this.#call.operation !== "responses") return "";
    const key = source === undefined ? [credential.apiKey ?? "", JSON.stringify(credential.fields)] : [source];
    const parts = JSON.stringify([this.#call.organizationId, provider, ...key]);
    return createHmac("sha256", this.#deps.markKey).update(parts).digest("base64url").slice(0, 8);
  }

  /** Specific to one organization and one model, so that no other is affected when it cools down. */
  #credentialId(parts: readonly string[]): string {
    // One call into the crypto engine, because every request pays for it. The key never leaves the process.
    return hash("sha256", JSON.stringify([this.#idKey, this.#call.organizationId, ...parts]), "base64url");
  }

  #deploymentOf(name: string, model: string): string {
    const map = this.#call.params.model_name_map ?? {};
    return map[name] ?? map[model] ?? model;
  }

  #readPin(): string | undefined {
    const { routeProvider } = this.#call;
    if (routeProvider === undefined || routeProvider.trim() === "") return undefined;
    const pin = providerName(routeProvider);
    if (!this.#isProvider(pin))
      throw badParam("X-Svc-Route-Provider", "X-Svc-Route-Provider names an unknown provider.");
    return pin;
  }

  #isProvider(name: string): boolean {
    return this.#deps.providers.has(name) || this.#brought.includes(name);
  }

  #entry(provider: string): ProviderEntry {
    return this.#deps.providers.get(provider) ?? customProvider;
  }
}

/** How many models an error names. */
const shownModels = 4;

function isRelayed(operation: Operation): operation is RelayedOperation {
  return operation === "messages" || operation === "count_tokens";
}

const keyless: UsableCredential = {
  credential: { fields: {} },
  baseUrl: undefined,
  isCallerHost: false,
  weight: 1,
  availableModels: undefined,
  excludeModels: [],
};

function regionUrl(provider: string, region: string | undefined): string | undefined {
  return provider === "bedrock" && region !== undefined ? `https://bedrock-runtime.${region}.amazonaws.com` : undefined;
}
