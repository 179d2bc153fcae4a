import { jwtVerify, SignJWT } from "jose";
import type { Secret } from "../lib/secret.ts";
import { authLimits } from "./limits.ts";
import { deriveKey } from "./secret-key.ts";

const issuer = "spanway";
const algorithm = "HS256";

export type TokenPair = {
  /** Sent with each request. */
  access: string;
  /** Exchanged for the next pair, and valid for nothing else. */
  refresh: string;
  /** Seconds for which `access` is valid. */
  expires_in: number;
};

/** The claims of a valid token. Its session may have ended: the caller checks that. */
export type TokenClaims = { session_id: string };
export type RefreshClaims = TokenClaims & { sequence: number };

export type Tokens = {
  /** @param sequence the number of refresh tokens issued for the session */
  issue: (session: { id: string; sequence: number }) => Promise<TokenPair>;
  /** Undefined except for an unexpired access token of this instance. */
  readAccess: (token: string) => Promise<TokenClaims | undefined>;
  /** Undefined except for an unexpired refresh token of this instance. */
  readRefresh: (token: string) => Promise<RefreshClaims | undefined>;
};

/** The two kinds of token differ in key, type and audience; each difference alone is enough. */
type TokenKind = { key: Uint8Array; typ: string; audience: string; lifeMs: number };

export function createTokens(secret: Secret, nowMs: () => number): Tokens {
  const access: TokenKind = {
    key: deriveKey(secret, "access tokens, version 2"),
    typ: "at+jwt",
    audience: "spanway:api",
    lifeMs: authLimits.accessTokenMs,
  };
  const refresh: TokenKind = {
    key: deriveKey(secret, "refresh tokens, version 2"),
    typ: "rt+jwt",
    audience: "spanway:refresh",
    lifeMs: authLimits.refreshTokenMs,
  };

  return {
    issue: async ({ id, sequence }) => ({
      access: await sign(access, id, {}, nowMs()),
      refresh: await sign(refresh, id, { seq: sequence }, nowMs()),
      expires_in: access.lifeMs / 1000,
    }),
    readAccess: async (token) => {
      const claims = await read(access, token, nowMs());
      return claims && { session_id: claims.session_id };
    },
    readRefresh: async (token) => {
      const claims = await read(refresh, token, nowMs());
      if (claims === undefined || typeof claims.seq !== "number") return undefined;
      return { session_id: claims.session_id, sequence: claims.seq };
    },
  };
}

function sign(
  { key, typ, audience, lifeMs }: TokenKind,
  sessionId: string,
  claims: Record<string, unknown>,
  nowMs: number,
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, typ })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(sessionId)
    .setIssuedAt(new Date(nowMs))
    .setExpirationTime(new Date(nowMs + lifeMs))
    .sign(key);
}

async function read(
  { key, typ, audience }: TokenKind,
  token: string,
  nowMs: number,
): Promise<{ session_id: string; seq: unknown } | undefined> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [algorithm],
      typ,
      issuer,
      audience,
      requiredClaims: ["sub", "exp"],
      currentDate: new Date(nowMs),
    });
    const { sub, seq } = payload;
    return typeof sub === "string" ? { session_id: sub, seq } : undefined;
  } catch {
    // Whatever is wrong with a token, the result is the same: it is not valid here.
    return undefined;
  }
}
