import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { Secret } from "../lib/secret.ts";
import { deriveKey } from "./secret-key.ts";

/**
 * Encrypts texts with AES-256-GCM under a key of one purpose. A sealed text opens only in its place, a list of names
 * such as the organization's: a ciphertext that is moved to another row does not open.
 *
 * A sealed text is `v1.<key id>.<base64url of nonce, tag and ciphertext>`. The key id distinguishes "sealed under
 * another SPANWAY_SECRET_KEY" from "damaged".
 */
export type SealedBox = {
  seal(text: string, place: readonly (string | null)[]): string;
  /** Undefined if it cannot be opened: another secret sealed it, it is in another place, or it is damaged. */
  open(sealed: string, place: readonly (string | null)[]): string | undefined;
};

const nonceBytes = 12;
const tagBytes = 16;

/** The same for bytes, as `<nonce><tag><ciphertext>`. */
export type ByteBox = {
  seal(bytes: Buffer, place: readonly (string | null)[]): Buffer;
  /** Undefined if they cannot be opened. */
  open(sealed: Buffer, place: readonly (string | null)[]): Buffer | undefined;
};

/** @param secret the instance's secret */
export function createSealedBox(secret: Secret, purpose: string): SealedBox {
  const key = deriveKey(secret, purpose);
  const box = boxOf(key);
  const keyId = createHash("sha256").update("key id").update(key).digest("hex").slice(0, 8);
  const prefix = `v1.${keyId}.`;
  return {
    seal: (text, place) => prefix + box.seal(Buffer.from(text), place).toString("base64url"),
    open: (sealed, place) => {
      if (!sealed.startsWith(prefix)) return undefined;
      return box.open(Buffer.from(sealed.slice(prefix.length), "base64url"), place)?.toString("utf8");
    },
  };
}

/** @param secret the instance's secret */
export function createByteBox(secret: Secret, purpose: string): ByteBox {
  return boxOf(deriveKey(secret, purpose));
}

function boxOf(key: Uint8Array): ByteBox {
  return {
    seal: (bytes, place) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(associated(place));
      const ciphertext = [cipher.update(bytes), cipher.final()];
      return Buffer.concat([nonce, cipher.getAuthTag(), ...ciphertext]);
    },
    open: (sealed, place) => {
      if (sealed.length < nonceBytes + tagBytes) return undefined;
      const nonce = sealed.subarray(0, nonceBytes);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes })
        .setAAD(associated(place))
        .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
}

/** JSON keeps the members distinct whatever their content. */
function associated(place: readonly (string | null)[]): Buffer {
  return Buffer.from(JSON.stringify(place));
}
