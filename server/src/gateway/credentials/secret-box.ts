import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { deriveKey } from "../../auth/secret-key.ts";
import type { Secret } from "../../lib/secret.ts";

/**
 * Seals provider secrets with AES-256-GCM. What is sealed opens only in its place: for the same organisation, setting, provider
 * and base URL, so that a ciphertext that is moved to another row, or a row whose host is changed, opens no more.
 *
 * A sealed text is `v1.<key id>.<base64url of nonce, tag and ciphertext>`. The key id tells "sealed under another SPANWAY_SECRET_KEY"
 * from "damaged".
 */
export type SecretBox = {
  seal(secrets: Readonly<Record<string, string>>, place: SecretPlace): string;
  /** Undefined where it cannot be opened: another instance's secret sealed it, or it is not in its place. */
  open(sealed: string, place: SecretPlace): Record<string, string> | undefined;
};

export type SecretPlace = {
  unique_organization_id: string;
  id: string;
  provider: string;
  base_url: string | null;
};

const nonceBytes = 12;
const tagBytes = 16;

/** @param secret the instance's */
export function createSecretBox(secret: Secret): SecretBox {
  const key = deriveKey(secret, "provider settings");
  const keyId = createHash("sha256").update("key id").update(key).digest("hex").slice(0, 8);
  const prefix = `v1.${keyId}.`;
  return {
    seal: (secrets, place) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(associated(place));
      const ciphertext = Buffer.concat([cipher.update(JSON.stringify(secrets)), cipher.final()]);
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
        const opened = Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
        return asSecrets(opened);
      } catch {
        return undefined;
      }
    },
  };
}

/** JSON keeps the members apart whatever they hold. */
function associated(place: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify([place.unique_organization_id, place.id, place.provider, place.base_url]));
}

/** Safe because GCM vouches that `seal` wrote it. */
function asSecrets(bytes: Buffer): Record<string, string> {
  return JSON.parse(bytes.toString("utf8")) as Record<string, string>;
}
