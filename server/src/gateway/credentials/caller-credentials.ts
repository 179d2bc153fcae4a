import { lookUp } from "../../lib/look-up.ts";
import { ServiceError } from "../../domain/errors.ts";
import { isObject } from "../../lib/json.ts";
import type { Credential } from "../providers/provider.ts";
import type { CredentialsByName, RoutingParams, WeightedCredentials } from "../routing/plan.ts";
import { providerName } from "../routing/provider-names.ts";
import { BadCredential, hasSecret, readCredential } from "./credential-members.ts";
import type { UsableCredential } from "./usable-credential.ts";

/**
 * The credentials that a request contains for one model of one provider. Undefined if it has none: the organization's
 * credentials then serve. Its own are never mixed with others: a customer's calls are never paid for by the
 * organization. `customer_credentials` win over `credential_override`.
 * @param names the caller's and the provider's name of the model
 * @throws ServiceError `invalid_request` naming the parameter
 */
export function callerCredentials(
  params: Pick<RoutingParams, "customer_credentials" | "credential_override">,
  provider: string,
  names: readonly string[],
): UsableCredential[] | undefined {
  return (
    customerCredentials(params.customer_credentials, provider) ?? override(params.credential_override, provider, names)
  );
}

/** Credentials of a model in a load balancing group: flat, or below the name of the provider. */
export function memberCredentials(
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
