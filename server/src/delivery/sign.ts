import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { legacyFamilies, signingFamilies } from "../domain/product-families.ts";

/** What receivers verify, over the exact bytes of the body; docs/webhooks.md shows how. */
export type Signed = { id: string; timestampS: number; body: Buffer };

/** A secret, made ready once: that costs more than signing with it does. */
export type SigningKey = {
  /** Of the base64 after the prefix. */
  standard: KeyObject;
  /** Of the secret as it stands. */
  whole: KeyObject;
};

/** @param secret `whsec_…` */
export function signingKey(secret: string): SigningKey {
  const standard = createSecretKey(Buffer.from(secret.slice(secretPrefix.length), "base64"));
  return { standard, whole: createSecretKey(Buffer.from(secret)) };
}

/**
 * Standard Webhooks headers, one signature for each key, and the hexadecimal HMAC of the body under the newest secret for
 * receivers of the older scheme, under the product's name; under its former ones too where `isLegacy`.
 *
 * @param newest the key of the newest secret
 * @param older those that sign beside it
 */
export function signatureHeaders(
  { id, timestampS, body }: Signed,
  [newest, ...older]: readonly [SigningKey, ...SigningKey[]],
  { isLegacy }: { isLegacy: boolean },
): Record<string, string> {
  const signatures = [newest, ...older].map(({ standard }) => {
    const hmac = createHmac("sha256", standard).update(`${id}.${timestampS}.`).update(body);
    return `v1,${hmac.digest("base64")}`;
  });
  const families = isLegacy ? [...signingFamilies, ...legacyFamilies] : signingFamilies;
  const hex = createHmac("sha256", newest.whole).update(body).digest("hex");
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestampS),
    "webhook-signature": signatures.join(" "),
    ...Object.fromEntries(families.map((family) => [`x-${family}-signature`, hex])),
  };
}

export const secretPrefix = "whsec_";
