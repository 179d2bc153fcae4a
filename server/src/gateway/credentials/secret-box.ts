import { createSealedBox } from "../../auth/sealed-box.ts";
import type { Secret } from "../../lib/secret.ts";

/**
 * Seals provider secrets (auth/sealed-box.ts). A sealed value opens only in its place: for the same organization,
 * setting, provider and base URL. So a ciphertext that is moved to another row, or whose row gets another host, no
 * longer opens.
 */
export type SecretBox = {
  seal(secrets: Readonly<Record<string, string>>, place: SecretPlace): string;
  /** Undefined if it cannot be opened: another instance's secret sealed it, or it is not in its place. */
  open(sealed: string, place: SecretPlace): Record<string, string> | undefined;
};

export type SecretPlace = {
  unique_organization_id: string;
  id: string;
  provider: string;
  base_url: string | null;
};

/** @param secret the instance's secret key */
export function createSecretBox(secret: Secret): SecretBox {
  const box = createSealedBox(secret, "provider settings");
  return {
    seal: (secrets, place) => box.seal(JSON.stringify(secrets), placeOf(place)),
    open: (sealed, place) => {
      const opened = box.open(sealed, placeOf(place));
      return opened === undefined ? undefined : asSecrets(opened);
    },
  };
}

function placeOf(place: SecretPlace): (string | null)[] {
  return [place.unique_organization_id, place.id, place.provider, place.base_url];
}

/** Safe because GCM authenticates that `seal` wrote it. */
function asSecrets(text: string): Record<string, string> {
  return JSON.parse(text) as Record<string, string>;
}
