import { z } from "zod";
import { environments } from "../../domain/principal.ts";
import type { CredentialInput, ShownSetting } from "../../gateway/credentials/provider-settings.ts";
import { apiLimits } from "../limits.ts";
import { gatewayLimits } from "../../gateway/limits.ts";
import { pricingLimits } from "../../pricing/limits.ts";
import type { RefusalOf } from "../../outgoing/refused-address.ts";
import { refusalField, shownRefusal } from "../refusal.ts";
import { nameSchema } from "../organizations/schemas.ts";

const text = z.string().min(1).max(gatewayLimits.credentialChars).nullable().optional();
const models = z.array(z.string().min(1).max(pricingLimits.modelNameChars)).max(apiLimits.providerModels);

/** Members of the credential. The secret ones are write-only. */
export const credentialSchema = {
  api_key: text.meta({ description: "Write-only." }),
  base_url: text.meta({
    description: "Called instead of the provider's own address. To change it, send the key again.",
  }),
  api_version: text.meta({ description: "Azure." }),
  account_id: text.meta({ description: "Cloudflare." }),
  region: text.meta({ description: "Bedrock." }),
  access_key_id: text.meta({ description: "Bedrock." }),
  secret_access_key: text.meta({ description: "Bedrock. Write-only." }),
  session_token: text.meta({ description: "Bedrock. Write-only." }),
};

export const traitsSchema = {
  name: nameSchema,
  environment: z.enum(environments).nullable().meta({
    description: "The environment whose calls it serves: by default that of the key; null: both, only with prod keys.",
  }),
  available_models: models.nullable().meta({ description: "The only models it serves; null: all." }),
  exclude_models: models.meta({ description: "Models that it does not serve." }),
  weight: z
    .number()
    .positive()
    .max(1e6)
    .meta({ description: "Its relative weight among several settings of one provider." }),
  is_enabled: z.boolean(),
};

export const settingSchema = z.object({
  id: z.string(),
  provider: z.string(),
  ...traitsSchema,
  base_url: z.string().nullable(),
  refused_reason: refusalField,
  api_version: z.string().nullable(),
  account_id: z.string().optional().meta({ description: "Where it has one." }),
  region: z.string().nullable(),
  access_key_id: z.string().nullable(),
  has_secret: z.boolean(),
  is_readable: z.boolean().meta({
    description:
      "false if its key was stored under another SPANWAY_SECRET_KEY: calls do not use it until the key is sent again.",
  }),
  secret_tail: z.string().meta({ description: "The last characters of the key, if it is long enough to show some." }),
  created_at: z.string().meta({ format: "date-time" }),
  updated_at: z.string().meta({ format: "date-time" }),
});

/** A setting as the routes return it. */
export function presentSetting(
  setting: ShownSetting,
  { refusalOf }: { refusalOf: RefusalOf },
): z.input<typeof settingSchema> {
  return {
    id: setting.id,
    provider: setting.provider,
    name: setting.name,
    environment: setting.environment,
    base_url: setting.base_url,
    ...shownRefusal(refusalOf, setting.base_url),
    api_version: setting.fields["api_version"] ?? null,
    ...(setting.fields["account_id"] !== undefined && { account_id: setting.fields["account_id"] }),
    region: setting.fields["region"] ?? null,
    access_key_id: setting.fields["access_key_id"] ?? null,
    available_models: setting.available_models && [...setting.available_models],
    exclude_models: [...setting.exclude_models],
    weight: setting.weight,
    is_enabled: setting.is_enabled,
    has_secret: setting.has_secret,
    is_readable: setting.isReadable,
    secret_tail: setting.secret_tail,
    created_at: setting.created_at,
    updated_at: setting.updated_at,
  };
}

/** Splits a body into the credential and the other members. */
export function splitCredential<Body extends CredentialInput>(body: Body) {
  const { api_key, base_url, api_version, account_id, region, ...others } = body;
  const { access_key_id, secret_access_key, session_token, ...rest } = others;
  const aws = { region, access_key_id, secret_access_key, session_token };
  const credential = { api_key, base_url, api_version, account_id, ...aws };
  return { credential, rest };
}

export const settingParams = z.object({ id: z.uuid() });
