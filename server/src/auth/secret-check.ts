import type { Secret } from "../lib/secret.ts";
import type { InstanceStore } from "../storage/control/instance-store.ts";
import { deriveKey, loadSecretKey } from "./secret-key.ts";

/** The message says what an operator can do, and never contains a secret. */
export class WrongSecretKey extends Error {}

/**
 * The secret key of this node, as `loadSecretKey` finds it. Refuses a key other than the one that the control store was
 * first used with: this node could not read the tokens and stored credentials of other nodes, nor they its own. @throws
 * WrongSecretKey
 */
export async function loadCheckedSecretKey(
  { secretKeyPath, secretKey }: { secretKeyPath: string; secretKey: Secret | undefined },
  instance: InstanceStore,
): Promise<Secret> {
  const secret = loadSecretKey(secretKeyPath, secretKey);
  const check = checkOf(secret);
  if ((await instance.keepSecretCheck(check)) === check) return secret;
  throw new WrongSecretKey(
    "SPANWAY_SECRET_KEY, or secret.key in the data folder, is not the secret key of this control store: give this node the key " +
      "that the other nodes have, or the previous one. If that key is lost, run `npm run admin -- secret-key accept` with the new one.",
  );
}

/** Makes this the secret key of the control store; nodes with another one refuse to start from then on. */
export async function acceptSecretKey(instance: InstanceStore, secret: Secret): Promise<void> {
  await instance.replaceSecretCheck(checkOf(secret));
}

function checkOf(secret: Secret): string {
  return Buffer.from(deriveKey(secret, "check value")).toString("base64url");
}
