import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { Secret } from "../lib/secret.ts";
import { deriveKey } from "./secret-key.ts";

/**
 * Seals texts with AES-256-GCM under a key of one purpose. What is sealed opens only in its place, a list of names such as
 * the organisation's: a ciphertext that is moved to another row opens no more.
 *
 * A sealed text is `v1.<key id>.<base64url of nonce, tag and ciphertext>`. The key id tells "sealed under another
 * SPANWAY_SECRET_KEY" from "damaged".
 */
export type SealedBox = {
  seal(text: string, place: readonly (string | null)[]): string;
  /** Undefined where it cannot be opened: another instance's secret sealed it, or it is not in its place. */
  open(sealed: string, place: readonly (string | null)[]): string | undefined;
};

const nonceBytes = 12;
const tagBytes = 16;

/** @param secret the instance's */
export function createSealedBox(secret: Secret, purpose: string): SealedBox {
  const key = deriveKey(secret, purpose);
  const keyId = createHash("sha256").update("key id").update(key).digest("hex").slice(0, 8);
  const prefix = `v1.${keyId}.`;
  return {
    seal: (text, place) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(associated(place));
      const ciphertext = Buffer.concat([cipher.update(text), cipher.final()]);
      return prefix + Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString("base64url");
    },
    open: (sealed, place) => {
      if (!sealed.startsWith(prefix)) return undefined;
      const bytes = Buffer.from(sealed.slice(prefix.length), "base64url");
      if (bytes.length < nonceBytes + tagBytes) return undefined;
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
        .setAAD(associated(place))
        .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString(
          "utf8",
        );
      } catch {
        return undefined;
      }
    },
  };
}

/** JSON keeps the members apart whatever they hold. */
function associated(place: readonly (string | null)[]): Buffer {
  return Buffer.from(JSON.stringify(place));
}
