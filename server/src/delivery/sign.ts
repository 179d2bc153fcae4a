import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { legacyFamilies, signingFamilies } from "../domain/product-families.ts";

/** The signed data, over the exact bytes of the body; docs/webhooks.md describes how receivers verify it. */
export type Signed = { id: string; timestampS: number; body: Buffer };

/** A prepared secret: preparing it costs more than signing with it. */
export type SigningKey = {
  /** Key from the base64 after the prefix. */
  standard: KeyObject;
  /** Key from the whole secret text. */
  whole: KeyObject;
};

/** @param secret `whsec_…` */
export function signingKey(secret: string): SigningKey {
  const standard = createSecretKey(Buffer.from(secret.slice(secretPrefix.length), "base64"));
  return { standard, whole: createSecretKey(Buffer.from(secret)) };
}

/**
 * Returns Standard Webhooks headers with one signature per key, and the hexadecimal HMAC of the body under the newest
 * secret for receivers of the older scheme, with the product's name; with its former names too if `isLegacy`.
 *
 * @param newest the key of the newest secret
 * @param older further keys that sign as well
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
