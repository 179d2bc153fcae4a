import { ServiceError } from "../domain/errors.ts";
import type { KeyPrincipal, Permission, Principal, UserPrincipal } from "../domain/principal.ts";

/** Who may call: nobody in particular, an API key, a person's access token (JWT), or either of the two. */
export type Auth = "none" | "key" | "user" | "key_or_user";

export type PrincipalOf = {
  none: undefined;
  key: KeyPrincipal;
  user: UserPrincipal;
  key_or_user: Principal;
};

/** A credential as presented. `scheme` says what it looks like: a JWT has three dot-separated parts, a key no dot. */
export type Credential = { scheme: "key" | "jwt"; token: string };

/** Resolves a credential to its principal, at once where it can; undefined when it is unknown, expired or revoked. */
export type Authenticator = {
  authenticate(credential: Credential): Principal | undefined | Promise<Principal | undefined>;
};

const authorizationPattern = /^(?:bearer|api-key) +([\x21-\x7e]+) *$/i;

/** Reads `Authorization: Bearer x` or `Api-Key x`; undefined when it is missing or malformed. */
function parseCredential(authorization: string | undefined): Credential | undefined {
  const token = authorization === undefined ? undefined : authorizationPattern.exec(authorization)?.[1];
  if (token === undefined) return undefined;
  const parts = token.split(".").length;
  if (parts === 1) return { scheme: "key", token };
  return parts === 3 ? { scheme: "jwt", token } : undefined;
}

/**
 * The principal behind a request to an endpoint of this kind. Throws `unauthorized` with one and the same
 * message whatever is wrong with the credential, and `forbidden` naming the permission that is missing.
 */
export function authenticate(
  authenticator: Authenticator,
  auth: Auth,
  permission: Permission | undefined,
  authorization: string | undefined,
): Principal | undefined | Promise<Principal> {
  if (auth === "none") return undefined;
  const credential = parseCredential(authorization);
  if (credential === undefined || !accepts(auth, credential.scheme)) throw unauthorized();
  const found = authenticator.authenticate(credential);
  return found instanceof Promise
    ? found.then((principal) => permitted(principal, auth, permission))
    : permitted(found, auth, permission);
}

function permitted(principal: Principal | undefined, auth: Auth, permission: Permission | undefined): Principal {
  if (principal === undefined || (auth !== "key_or_user" && principal.kind !== auth)) throw unauthorized();
  if (permission !== undefined && !principal.permissions.has(permission)) {
    throw new ServiceError("forbidden", `This credential lacks the permission ${permission}.`);
  }
  return principal;
}

function accepts(auth: Exclude<Auth, "none">, scheme: Credential["scheme"]): boolean {
  return auth === "key_or_user" || auth === (scheme === "key" ? "key" : "user");
}

function unauthorized(): ServiceError {
  return new ServiceError("unauthorized", "Authentication credentials were not provided or are not valid.");
}
