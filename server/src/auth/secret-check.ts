import type { Secret } from "../lib/secret.ts";
import type { InstanceStore } from "../storage/control/instance-store.ts";
import { deriveKey, loadSecretKey } from "./secret-key.ts";

/** Says what an operator can do, and nothing of any secret. */
export class WrongSecretKey extends Error {}

/**
 * The secret key of this node, as `loadSecretKey` finds it. Refuses one that is not the one that the control store was first used with: tokens and stored credentials of other nodes
 * would not be readable here, and the other way round. @throws WrongSecretKey
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
      "that the other nodes have, or that of before. If that key is lost, run `npm run admin -- secret-key accept` with the new one.",
  );
}

/** Makes this secret key the one of the control store; nodes with another one do not start any more. */
export async function acceptSecretKey(instance: InstanceStore, secret: Secret): Promise<void> {
  await instance.replaceSecretCheck(checkOf(secret));
}

function checkOf(secret: Secret): string {
  return Buffer.from(deriveKey(secret, "check value")).toString("base64url");
}
