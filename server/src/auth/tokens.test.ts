import { base64url, SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { Secret } from "../lib/secret.ts";
import { deriveKey } from "./secret-key.ts";
import { createTokens } from "./tokens.ts";

const secret = new Secret("a secret of the instance");
const session = { id: "7f1c", sequence: 3 };

function tokensAt(start: string) {
  const clock = { ms: Date.parse(start) };
  return { tokens: createTokens(secret, () => clock.ms), clock };
}

const start = "2026-03-01T10:00:00.000Z";
const { tokens } = tokensAt(start);

test("a token names its session", async () => {
  const { access, refresh, expires_in } = await tokens.issue(session);
  expect(expires_in).toBe(900);
  expect(await tokens.readAccess(access)).toEqual({ session_id: "7f1c" });
  expect(await tokens.readRefresh(refresh)).toEqual({ session_id: "7f1c", sequence: 3 });
});

test("the kinds are not interchangeable", async () => {
  const { access, refresh } = await tokens.issue(session);
  expect(await tokens.readAccess(refresh)).toBeUndefined();
  expect(await tokens.readRefresh(access)).toBeUndefined();
});

test.each([
  ["access", 15 * 60],
  ["refresh", 30 * 24 * 60 * 60],
] as const)("an %s token ends on time", async (kind, lifeS) => {
  const { tokens, clock } = tokensAt(start);
  const pair = await tokens.issue(session);
  const read = kind === "access" ? tokens.readAccess : tokens.readRefresh;
  clock.ms = Date.parse(start) + (lifeS - 1) * 1000;
  expect(await read(pair[kind])).toBeDefined();
  clock.ms = Date.parse(start) + lifeS * 1000;
  expect(await read(pair[kind])).toBeUndefined();
});

test("tokens of every other instance are refused", async () => {
  const other = createTokens(new Secret("a secret of another"), () => Date.parse(start));
  const { access } = await other.issue(session);
  expect(await tokens.readAccess(access)).toBeUndefined();
});

describe("a token that was tampered with", () => {
  const claims = (claims: object) => base64url.encode(JSON.stringify(claims));

  test("in any one character of its claims or signature", async () => {
    const { access } = await tokens.issue(session);
    const header = access.indexOf(".") + 1;
    for (let at = header; at < access.length - 1; at += 1) {
      if (access[at] === ".") continue;
      const changed = access.slice(0, at) + (access[at] === "A" ? "B" : "A") + access.slice(at + 1);
      expect(await tokens.readAccess(changed), `character ${at}`).toBeUndefined();
    }
  });

  test("by a changed subject under the old signature", async () => {
    const { access } = await tokens.issue(session);
    const [header, payload = "", signature] = access.split(".");
    const body = JSON.parse(new TextDecoder().decode(base64url.decode(payload))) as object;
    const forged = `${header}.${claims({ ...body, sub: "somebody else" })}.${signature}`;
    expect(await tokens.readAccess(forged)).toBeUndefined();
  });

  test.each(["none", "None", "NONE"])("by the algorithm %s", async (alg) => {
    const { access } = await tokens.issue(session);
    const [, payload, signature] = access.split(".");
    const header = claims({ alg, typ: "at+jwt" });
    expect(await tokens.readAccess(`${header}.${payload}.`)).toBeUndefined();
    expect(await tokens.readAccess(`${header}.${payload}.${signature}`)).toBeUndefined();
  });

  test("by another HMAC than the pinned one, though the key is right", async () => {
    const key = deriveKey(secret, "access tokens, version 2");
    const sign = (alg: string, typ: string) =>
      new SignJWT({})
        .setProtectedHeader({ alg, typ })
        .setIssuer("spanway")
        .setAudience("spanway:api")
        .setSubject(session.id)
        .setExpirationTime(new Date(Date.parse(start) + 1000))
        .sign(key);
    expect(await tokens.readAccess(await sign("HS256", "at+jwt"))).toBeDefined();
    expect(await tokens.readAccess(await sign("HS256", "JWT"))).toBeUndefined();
    expect(await tokens.readAccess(await sign("HS512", "at+jwt"))).toBeUndefined();
  });

  test("by leaving out its expiry", async () => {
    const key = deriveKey(secret, "access tokens, version 2");
    const eternal = await new SignJWT({})
      .setProtectedHeader({ alg: "HS256", typ: "at+jwt" })
      .setIssuer("spanway")
      .setAudience("spanway:api")
      .setSubject(session.id)
      .sign(key);
    expect(await tokens.readAccess(eternal)).toBeUndefined();
  });

  test.each(["", ".", "..", "a.b.c", "not a token"])("to %j", async (text) => {
    expect(await tokens.readAccess(text)).toBeUndefined();
  });
});
