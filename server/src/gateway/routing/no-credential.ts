import { ServiceError } from "../../domain/errors.ts";
import type { OpenSetting, UnreadableSetting } from "../credentials/stored-settings.ts";
import { providerName } from "./provider-names.ts";

export type Unanswerable = { model: string; provider: string };

/** Why nobody can be asked for a model of a provider, and what would help. */
export function noCredential(
  { model, provider }: Unanswerable,
  {
    settings,
    keyVariable,
    isCatalogued,
  }: {
    settings: readonly OpenSetting[];
    /** The environment variable for a key of the provider. */
    keyVariable: string | undefined;
    /** Whether the model is known by its name, and not merely named like those of the provider. */
    isCatalogued: boolean;
  },
): ServiceError {
  if (settings.some((setting) => setting.provider === provider)) {
    return failed(
      `None of the credentials stored for ${provider} serves ${model}: their available_models or exclude_models leave it out.`,
    );
  }
  const byServer = keyVariable === undefined ? "" : `start the server with ${keyVariable}, or `;
  const doubt = isCatalogued ? "" : ` ${model} is not in the catalogue: is it spelt as ${provider} has it?`;
  return failed(
    `There is no credential for ${provider}, which would be asked for ${model}: ${byServer}store one with POST /api/providers/, ` +
      `or send customer_credentials or credential_override.${doubt}`,
  );
}

/** Where a stored credential that cannot be read is why nobody answers; undefined where none has to do with it. */
export function lostCredential(
  unreadable: readonly UnreadableSetting[],
  { model, provider }: { model: string; provider?: string },
): ServiceError | undefined {
  const meant = provider ?? (model.includes("/") ? providerName(model.slice(0, model.indexOf("/"))) : undefined);
  const lost = unreadable.find(
    (setting) => setting.provider === meant || setting.availableModels?.includes(model) === true,
  );
  if (lost === undefined) return undefined;
  return failed(
    `The stored credential of ${lost.provider} cannot be read: it was stored under another SPANWAY_SECRET_KEY. ` +
      `Enter its key again: PATCH /api/providers/${lost.id}/.`,
  );
}

function failed(message: string): ServiceError {
  return new ServiceError("upstream_failed", message);
}
