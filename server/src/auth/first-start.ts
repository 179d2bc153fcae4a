import type { Logger } from "pino";
import type { Environment } from "../domain/principal.ts";
import { randomToken } from "../lib/random-token.ts";
import type { Secret } from "../lib/secret.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { makeSignInCode } from "./browser-sessions.ts";
import { makeOrganization, makeUser } from "./make-organization.ts";
import type { Passwords } from "./passwords.ts";

/** Values that the operator chose; the others are generated. */
export type FirstStartSettings = {
  organizationId: string | undefined;
  prodKey: Secret | undefined;
  testKey: Secret | undefined;
  adminEmail: string | undefined;
  adminPassword: Secret | undefined;
};

/** A secret to show once. `given`: it came from the operator, who knows it. */
export type FirstSecret = { value: string; given: boolean };

export type FirstStart = {
  unique_organization_id: string;
  admin_email: string;
  admin_password: FirstSecret;
  /** Signs the administrator in once, with the link of `GET /sign-in`. */
  sign_in_code: string;
  keys: Record<Environment, FirstSecret>;
};

/**
 * Sets up a new instance: an organization, its two keys and an instance admin. Undefined if it is set up already, even
 * by another node a moment ago. Throws without any change if the database fails.
 */
export async function ensureFirstStart(
  stores: ControlStores,
  passwords: Pick<Passwords, "hash">,
  settings: FirstStartSettings,
  nowMs: () => number,
): Promise<FirstStart | undefined> {
  if (await stores.instance.isInitialized()) return undefined;
  const email = settings.adminEmail ?? "admin@spanway.local";
  const password = settings.adminPassword?.reveal() ?? randomToken(24);
  const passwordHash = await passwords.hash(password);

  return stores.transaction(async (transaction) => {
    const now = nowMs();
    if (!(await transaction.instance.claimInitialization(new Date(now).toISOString()))) return undefined;
    const { organization, keys } = await makeOrganization(transaction, {
      name: "Default organization",
      unique_organization_id: settings.organizationId,
      keys: { prod: settings.prodKey?.reveal(), test: settings.testKey?.reveal() },
      nowMs: now,
    });
    const { unique_organization_id } = organization;
    const admin = { unique_organization_id, email, password_hash: passwordHash, is_instance_admin: true };
    const user = await makeUser(transaction, { ...admin, role: "admin", nowMs: now });
    return {
      unique_organization_id,
      admin_email: user.email,
      sign_in_code: await makeSignInCode(transaction, user.id, now),
      admin_password: { value: password, given: settings.adminPassword !== undefined },
      keys: {
        prod: { value: keys.prod, given: settings.prodKey !== undefined },
        test: { value: keys.test, given: settings.testKey !== undefined },
      },
    };
  });
}

/**
 * Logs how to get credentials if nobody may have seen those of the first start: the process ended before it printed
 * them.
 */
export async function noteUnusedKeys(
  apiKeys: Pick<ControlStores["apiKeys"], "areUsed">,
  { prodKey }: Pick<FirstStartSettings, "prodKey">,
  logger: Pick<Logger, "info">,
): Promise<void> {
  if (prodKey !== undefined || (await apiKeys.areUsed())) return;
  logger.info(
    "no API key was used so far; `npm run admin -- keys create` makes another one, " +
      "`npm run admin -- users set-password --email EMAIL` another password, if those of the first start are not known",
  );
}
