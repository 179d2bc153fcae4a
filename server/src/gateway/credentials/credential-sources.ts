import { ServiceError } from "../../domain/errors.ts";
import type { Environment } from "../../domain/principal.ts";
import { isObject } from "../../lib/json.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { Secret } from "../../lib/secret.ts";
import { weightedOrder } from "../../lib/weighted-order.ts";
import type { Credential } from "../providers/provider.ts";
import type { RoutedCall, CredentialsByName, RoutingParams, WeightedCredentials } from "../routing/plan.ts";
import { providerName } from "../routing/provider-names.ts";
import { BadCredential, hasSecret, readCredential } from "./credential-members.ts";
import type { OpenSetting } from "./stored-settings.ts";
import { servesModel, type UsableCredential } from "./usable-credential.ts";

/**
 * A provider's credential from the server's environment variables. The operator chose `baseUrl`, which may be private.
 */
export type EnvironmentCredential = {
  apiKey: Secret | undefined;
  baseUrl: string | undefined;
  fields: Readonly<Record<string, string>>;
};

/** The beta flag that limits calls to settings of their key's own environment. */
const envScopedBeta = "env-scoped-integrations-2026-03-28";

export type CredentialQuery = {
  call: Pick<RoutedCall, "params" | "environment" | "betas">;
  provider: string;
  /** The caller's and the provider's name of the model. */
  names: readonly string[];
  /** Credentials of the model in a load balancing group, and the parameter that contains the group. */
  member: { credentials: Readonly<Record<string, unknown>>; param: string } | undefined;
  settings: readonly OpenSetting[];
  fromEnvironment: EnvironmentCredential | undefined;
  random: () => number;
};

/**
 * The credentials for one model of one provider, in the order in which they are tried. All come from one source, the
 * first that has any: the member of the group, `customer_credentials`, `credential_override`, stored settings,
 * environment variables. So calls are never charged to another source when their own fails. Several of one source are
 * drawn by weight.
 */
export function findCredentials(query: CredentialQuery): UsableCredential[] {
  const { call, provider, names, member, random } = query;
  const own =
    member === undefined
      ? callerCredentials(call.params, provider, names)
      : memberCredentials(member.credentials, provider, member.param);
  const usable = (own ?? storedCredentials(query)).filter((credential) => servesModel(credential, names));
  if (own !== undefined || usable.length > 0) return weightedOrder(usable, ({ weight }) => weight, random);
  return query.fromEnvironment === undefined ? [] : [environmentCredential(query.fromEnvironment)];
}

function storedCredentials({ settings, provider, call }: CredentialQuery): readonly OpenSetting[] {
  return ofEnvironment(
    settings.filter((setting) => setting.provider === provider),
    call.environment,
    call.betas,
  );
}

/**
 * Settings of the key's environment, or of both. If test has none: those of prod, if the organization shares them and
 * the beta does not separate them.
 */
export function ofEnvironment(
  settings: readonly OpenSetting[],
  environment: Environment,
  betas: ReadonlySet<string>,
): readonly OpenSetting[] {
  const own = settings.filter((setting) => setting.environment === null || setting.environment === environment);
  if (own.length > 0 || environment === "prod" || betas.has(envScopedBeta)) return own;
  return settings.filter(({ servesTest }) => servesTest);
}

function environmentCredential({ apiKey, fields }: EnvironmentCredential): UsableCredential {
  return {
    source: "environment",
    credential: { ...(apiKey !== undefined && { apiKey: apiKey.reveal() }), fields },
    // The operator's address, if there is one, is the default for every credential.
    baseUrl: undefined,
    isCallerHost: false,
    weight: 1,
    availableModels: undefined,
    excludeModels: [],
  };
}

/**
 * The credentials that a request contains for one model of one provider. Undefined if it has none: the organization's
 * credentials then serve. Its own are never mixed with others: a customer's calls are never paid for by the
 * organization. `customer_credentials` win over `credential_override`.
 * @param names the caller's and the provider's name of the model
 * @throws ServiceError `invalid_request` naming the parameter
 */
function callerCredentials(
  params: Pick<RoutingParams, "customer_credentials" | "credential_override">,
  provider: string,
  names: readonly string[],
): UsableCredential[] | undefined {
  return (
    customerCredentials(params.customer_credentials, provider) ?? override(params.credential_override, provider, names)
  );
}

/** Credentials of a model in a load balancing group: flat, or below the name of the provider. */
function memberCredentials(
  credentials: Readonly<Record<string, unknown>>,
  provider: string,
  param: string,
): UsableCredential[] {
  const nested = ofProvider(credentials, provider);
  return [
    usable(nested ?? credentials, nested === undefined ? `${param}.credentials` : `${param}.credentials.${provider}`),
  ];
}

/** Providers, known or not, for which the request has credentials with an address, so that they can be called. */
export function callerProviders(params: Pick<RoutingParams, "customer_credentials" | "credential_override">): string[] {
  const { customer_credentials: customer, credential_override } = params;
  const byName = [
    ...(isList(customer) ? customer.map(({ credentials }) => credentials) : [customer ?? {}]),
    credential_override ?? {},
  ];
  const named = byName.flatMap((credentials) => Object.entries(credentials));
  return named.filter(([, members]) => members["api_base"] || members["base_url"]).map(([name]) => providerName(name));
}

function customerCredentials(
  given: RoutingParams["customer_credentials"],
  provider: string,
): UsableCredential[] | undefined {
  if (given === undefined) return undefined;
  if (!isList(given)) {
    const members = ofProvider(given, provider);
    return members && [usable(members, `customer_credentials.${provider}`)];
  }
  const found = given.flatMap((entry, index) => {
    const members = ofProvider(entry.credentials, provider);
    if (members === undefined) return [];
    return {
      ...usable(members, `customer_credentials.${index}.credentials.${provider}`),
      weight: entry.weight ?? 1,
      availableModels: entry.available_models,
      excludeModels: entry.exclude_models ?? [],
    };
  });
  return found.length > 0 ? found : undefined;
}

function override(
  given: CredentialsByName | undefined,
  provider: string,
  names: readonly string[],
): UsableCredential[] | undefined {
  if (given === undefined) return undefined;
  for (const name of names) {
    const members = lookUp(given, name);
    if (members !== undefined) return [usable(members, `credential_override.${name}`)];
  }
  const members = ofProvider(given, provider);
  return members && [usable(members, `credential_override.${provider}`)];
}

function usable(members: Readonly<Record<string, unknown>>, param: string): UsableCredential {
  const { credential, baseUrl } = read(members, param);
  if (baseUrl === undefined && !hasSecret(credential)) throw bad(param, `${param} needs an api_key or an api_base.`);
  return {
    credential,
    baseUrl,
    isCallerHost: baseUrl !== undefined,
    weight: 1,
    availableModels: undefined,
    excludeModels: [],
  };
}

function read(
  members: Readonly<Record<string, unknown>>,
  param: string,
): { credential: Credential; baseUrl: string | undefined } {
  try {
    return readCredential(members);
  } catch (error) {
    if (error instanceof BadCredential)
      throw bad(`${param}.${error.member}`, `${param}.${error.member} ${error.message}.`);
    throw error;
  }
}

function ofProvider(
  credentials: Readonly<Record<string, unknown>>,
  provider: string,
): Readonly<Record<string, unknown>> | undefined {
  for (const [name, members] of Object.entries(credentials)) {
    if (providerName(name) === provider && isObject(members)) return members;
  }
  return undefined;
}

type CustomerCredentials = NonNullable<RoutingParams["customer_credentials"]>;

function isList(value: CustomerCredentials | undefined): value is readonly WeightedCredentials[] {
  return Array.isArray(value);
}

function bad(param: string, message: string): ServiceError {
  return new ServiceError("invalid_request", message, { errors: { [param]: [message] } });
}
