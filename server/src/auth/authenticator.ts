import { ServiceError } from "../domain/errors.ts";
import { permissionsOfRole } from "../domain/permissions.ts";
import type { UserPrincipal } from "../domain/principal.ts";
import type { User } from "../domain/user.ts";
import type { Authenticator } from "../http/authenticate.ts";
import type { ApiKeyStore } from "../storage/control/api-key-store.ts";
import type { UserStore } from "../storage/control/user-store.ts";
import { createKeyCache } from "./key-cache.ts";
import { hashApiKey } from "./make-api-key.ts";
import type { TokenClaims, Tokens } from "./tokens.ts";

export type CachingAuthenticator = Authenticator & {
  /**
   * Call after a key was made or revoked: this process minds it from the next request on, other nodes within
   * `limits.cachedKeyMs`.
   */
  forgetKey: (hash: string) => void;
};

export type AuthenticatorOptions = {
  apiKeys: Pick<ApiKeyStore, "findByHash">;
  users: Pick<UserStore, "find">;
  tokens: Pick<Tokens, "readAccess">;
  nowMs: () => number;
};

/** Keys are answered from memory where possible; people, who call rarely, are looked up each time. Throws `unavailable`. */
export function createAuthenticator({ apiKeys, users, tokens, nowMs }: AuthenticatorOptions): CachingAuthenticator {
  const keys = createKeyCache(apiKeys, nowMs);
  return {
    authenticate: ({ scheme, token }) =>
      scheme === "key" ? keys.find(hashApiKey(token)) : principalOfToken({ users, tokens }, token),
    forgetKey: keys.forget,
  };
}

async function principalOfToken(
  { users, tokens }: Pick<AuthenticatorOptions, "users" | "tokens">,
  token: string,
): Promise<UserPrincipal | undefined> {
  const claims = await tokens.readAccess(token);
  const user = claims && (await findTokenUser(users, claims));
  return user && userPrincipal(user);
}

/** The user a token speaks for; undefined when the user is gone or the session was ended. Throws `unavailable`. */
export async function findTokenUser(users: Pick<UserStore, "find">, claims: TokenClaims): Promise<User | undefined> {
  const user = await users.find(claims.user_id).catch((cause: unknown) => {
    throw new ServiceError("unavailable", "Credentials cannot be checked just now.", { retryAfterS: 1, cause });
  });
  return user?.token_version === claims.token_version ? user : undefined;
}

function userPrincipal(user: User): UserPrincipal {
  return {
    kind: "user",
    organization_id: user.unique_organization_id,
    user_id: user.id,
    email: user.email,
    role: user.role,
    is_instance_admin: user.is_instance_admin,
    permissions: permissionsOfRole(user.role),
  };
}
