import type { Credential } from "../providers/provider.ts";

/** A credential for one provider, from any source. */
export type UsableCredential = {
  credential: Credential;
  /** The organization's setting or the operator's environment; undefined for a credential from the request. */
  source?: string;
  /** Undefined for the provider's default address. */
  baseUrl: string | undefined;
  /** The caller set `baseUrl` in this request. */
  isCallerHost: boolean;
  /** Above 0. */
  weight: number;
  /** Undefined: all. */
  availableModels: readonly string[] | undefined;
  excludeModels: readonly string[];
};

/** @param names the caller's and the provider's name of the model; empty for any model */
export function servesModel(usable: UsableCredential, names: readonly string[]): boolean {
  const { availableModels, excludeModels } = usable;
  if (names.length === 0) return true;
  return (
    !names.some((name) => excludeModels.includes(name)) &&
    (availableModels === undefined || names.some((name) => availableModels.includes(name)))
  );
}
