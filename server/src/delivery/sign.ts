import { createHmac } from "node:crypto";
import { productFamilies } from "../domain/product-families.ts";

/** What receivers verify, over the exact bytes of the body; docs/webhooks.md shows how. */
export type Signed = { id: string; timestampS: number; body: string };

/**
 * Standard Webhooks headers, one signature for each secret, and the hexadecimal HMAC of the body under the newest secret for
 * receivers of the older scheme, under each name the product has had.
 *
 * @param secrets `whsec_…`, the newest first
 */
export function signatureHeaders({ id, timestampS, body }: Signed, secrets: readonly string[]): Record<string, string> {
  const content = `${id}.${timestampS}.${body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secretPrefix.length), "base64");
    return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
  });
  const hex = createHmac("sha256", secrets[0] ?? "")
    .update(body)
    .digest("hex");
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestampS),
    "webhook-signature": signatures.join(" "),
    ...Object.fromEntries(productFamilies.map((family) => [`x-${family}-signature`, hex])),
  };
}

export const secretPrefix = "whsec_";
