import { ServiceError } from "../domain/errors.ts";
import { requirePermission, type KeyPrincipal, type Principal, type UserPrincipal } from "../domain/principal.ts";
import type { Permission } from "../domain/permissions.ts";

/** Who may call: anyone (`none`), an API key, a person's access token (JWT), or either of the two. */
export type Auth = "none" | "key" | "user" | "key_or_user";

export type PrincipalOf = {
  none: undefined;
  key: KeyPrincipal;
  user: UserPrincipal;
  key_or_user: Principal;
};

/** A credential as presented. `scheme` follows from its form: a JWT has three dot-separated parts, a key has no dot. */
export type Credential = { scheme: "key" | "jwt"; token: string };

/** Resolves a credential to its principal, synchronously if it can; undefined if it is unknown, expired or revoked. */
export type Authenticator = {
  authenticate(credential: Credential): Principal | undefined | Promise<Principal | undefined>;
  /** The person to whom this browser session belongs. */
  authenticateBrowser(sessionId: string): Promise<UserPrincipal | undefined>;
};

// Some exporters copy a header verbatim from an environment variable, where the space is written %20.
const authorizationPattern = /^(bearer|api-key|basic)(?: |%20)+([\x21-\x7e]+) *$/i;
const tokenPattern = /^[\x21-\x7e]+$/;

/**
 * Reads `Authorization: Bearer x` or `Api-Key x`, and `Basic` with the credential as the password (Langfuse's SDKs send
 * that). Returns undefined if it is missing or malformed.
 */
function parseCredential(authorization: string | undefined): Credential | undefined {
  const found = authorization === undefined ? null : authorizationPattern.exec(authorization);
  const token = found?.[1]?.toLowerCase() === "basic" ? passwordIn(found[2] ?? "") : found?.[2];
  if (token === undefined) return undefined;
  const first = token.indexOf(".");
  if (first === -1) return { scheme: "key", token };
  const second = token.indexOf(".", first + 1);
  return second !== -1 && !token.includes(".", second + 1) ? { scheme: "jwt", token } : undefined;
}

function passwordIn(base64: string): string | undefined {
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(base64, "base64").toString("utf8")) ?? [];
  return password !== undefined && tokenPattern.test(password) ? password : undefined;
}

/**
 * Returns the principal of a request to an endpoint of this kind. Throws `unauthorized`, with the same message for
 * every invalid credential and another one for a valid credential of the other kind, and `forbidden` that names the
 * missing permission.
 */
export async function authenticate(
  authenticator: Authenticator,
  auth: Auth,
  permission: Permission | undefined,
  authorization: string | undefined,
): Promise<Principal | undefined> {
  if (auth === "none") return undefined;
  const credential = parseCredential(authorization);
  if (credential === undefined) throw unauthorized();
  return permitted(await authenticator.authenticate(credential), auth, permission);
}

function permitted(
  principal: Principal | undefined,
  auth: Exclude<Auth, "none">,
  permission: Permission | undefined,
): Principal {
  if (principal === undefined) throw unauthorized();
  if (auth !== "key_or_user" && principal.kind !== auth) throw ofAnotherKind(auth);
  if (permission !== undefined) requirePermission(principal, permission);
  return principal;
}

/** Only callers with a credential that is valid elsewhere see this error. */
function ofAnotherKind(wanted: Principal["kind"]): ServiceError {
  const takes = {
    key: "an API key, not a person's access token; POST /api/temporary-keys/ trades one for the other",
    user: "a person's access token, as POST /api/auth/login/ gives it, not an API key",
  };
  return new ServiceError("unauthorized", `${notValid} here: this route takes ${takes[wanted]}.`);
}

const notValid = "Authentication credentials were not provided or are not valid";

export function unauthorized(): ServiceError {
  return new ServiceError("unauthorized", `${notValid}. They are sent as Authorization: Bearer <key>.`);
}
