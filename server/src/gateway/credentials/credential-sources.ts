import type { Environment } from "../../domain/principal.ts";
import type { Secret } from "../../lib/secret.ts";
import { weightedOrder } from "../../lib/weighted-order.ts";
import type { RoutedCall } from "../routing/plan.ts";
import { callerCredentials, memberCredentials } from "./caller-credentials.ts";
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
