import { jwtVerify, SignJWT } from "jose";
import type { User } from "../domain/user.ts";
import type { Secret } from "../lib/secret.ts";
import { limits } from "../limits.ts";
import { deriveKey } from "./secret-key.ts";

const issuer = "spanway";
const algorithm = "HS256";

export type TokenPair = {
  /** Presented with each request. */
  access: string;
  /** Traded for the next pair, and good for nothing else. */
  refresh: string;
  /** Seconds for which `access` is good. */
  expires_in: number;
};

/** What a good token says. The user may be gone, and the version old: that is for the reader to look up. */
export type TokenClaims = { user_id: string; token_version: number };

export type Tokens = {
  issue: (user: User) => Promise<TokenPair>;
  /** Undefined for anything but an unexpired access token of this instance. */
  readAccess: (token: string) => Promise<TokenClaims | undefined>;
  /** Undefined for anything but an unexpired refresh token of this instance. */
  readRefresh: (token: string) => Promise<TokenClaims | undefined>;
};

/** The two kinds of token differ in key, type and audience; any one of them keeps them apart. */
type TokenKind = { key: Uint8Array; typ: string; audience: string; lifeMs: number };

export function createTokens(secret: Secret, nowMs: () => number): Tokens {
  const access: TokenKind = {
    key: deriveKey(secret, "access tokens, version 1"),
    typ: "at+jwt",
    audience: "spanway:api",
    lifeMs: limits.accessTokenMs,
  };
  const refresh: TokenKind = {
    key: deriveKey(secret, "refresh tokens, version 1"),
    typ: "rt+jwt",
    audience: "spanway:refresh",
    lifeMs: limits.refreshTokenMs,
  };

  return {
    issue: async (user) => ({
      access: await sign(access, user, nowMs()),
      refresh: await sign(refresh, user, nowMs()),
      expires_in: access.lifeMs / 1000,
    }),
    readAccess: (token) => read(access, token, nowMs()),
    readRefresh: (token) => read(refresh, token, nowMs()),
  };
}

function sign({ key, typ, audience, lifeMs }: TokenKind, user: User, nowMs: number): Promise<string> {
  return new SignJWT({ ver: user.token_version })
    .setProtectedHeader({ alg: algorithm, typ })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(user.id)
    .setIssuedAt(new Date(nowMs))
    .setExpirationTime(new Date(nowMs + lifeMs))
    .sign(key);
}

async function read({ key, typ, audience }: TokenKind, token: string, nowMs: number): Promise<TokenClaims | undefined> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [algorithm],
      typ,
      issuer,
      audience,
      requiredClaims: ["sub", "exp"],
      currentDate: new Date(nowMs),
    });
    const { sub, ver } = payload;
    return typeof sub === "string" && typeof ver === "number" ? { user_id: sub, token_version: ver } : undefined;
  } catch {
    // Whatever is wrong with a token, the answer is the same: it is not one of ours.
    return undefined;
  }
}
