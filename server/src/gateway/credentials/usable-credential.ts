import type { Credential } from "../providers/provider.ts";

/** A credential for one provider, from wherever it comes. */
export type UsableCredential = {
  credential: Credential;
  /** Where the organization or the operator keeps it; undefined for one that the call brings along. */
  source?: string;
  /** Undefined: where the provider is by default. */
  baseUrl: string | undefined;
  /** The caller chose `baseUrl` in this request. */
  isCallerHost: boolean;
  /** Above 0. */
  weight: number;
  /** Undefined: all. */
  availableModels: readonly string[] | undefined;
  excludeModels: readonly string[];
};

/** @param names what the model is called: by the caller, and by the provider; none where any model is meant */
export function servesModel(usable: UsableCredential, names: readonly string[]): boolean {
  const { availableModels, excludeModels } = usable;
  if (names.length === 0) return true;
  return (
    !names.some((name) => excludeModels.includes(name)) &&
    (availableModels === undefined || names.some((name) => availableModels.includes(name)))
  );
}
