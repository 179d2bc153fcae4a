import { ServiceError } from "../../domain/errors.ts";
import type { OpenSetting, UnreadableSetting } from "../credentials/stored-settings.ts";
import { providerName } from "./provider-names.ts";

export type Unanswerable = { model: string; provider: string };

/** The error for a model without a usable credential, with ways to fix it. */
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
    /** Whether the catalogue lists the model, rather than only its name matching a pattern of the provider. */
    isCatalogued: boolean;
  },
): ServiceError {
  if (settings.some((setting) => setting.provider === provider)) {
    return failed(
      `None of the credentials stored for ${provider} serves ${model}: their available_models or exclude_models leave it out.`,
    );
  }
  const byServer = keyVariable === undefined ? "" : `start the server with ${keyVariable}, or `;
  const doubt = isCatalogued ? "" : ` ${model} is not in the catalogue: check which name ${provider} uses for it.`;
  return failed(
    `There is no credential for ${provider}, which would be asked for ${model}: ${byServer}store one with POST /api/providers/, ` +
      `or send customer_credentials or credential_override.${doubt}`,
  );
}

/** The error if an unreadable stored credential is the cause; undefined if none is related to the model. */
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
  return new ServiceError("no_credential", message);
}
