import fc from "fast-check";
import { expect, test } from "vitest";
import type { Principal } from "../domain/principal.ts";
import { authenticate, type Credential } from "./authenticate.ts";

const token = fc.oneof(
  fc.array(fc.constantFrom("", "a", "key-b_1"), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(".")),
  fc.string({ maxLength: 6, unit: "binary-ascii" }),
);
const scheme = fc.constantFrom("Bearer ", "bearer  ", "Api-Key ", "Api-Key%20", "Bearer", "Token ");

test("a key has no dot, a person's token has two, and anything else is not looked up", async () => {
  await fc.assert(
    fc.asyncProperty(scheme, token, fc.constantFrom("", "", " ", "  "), async (named, sent, blanks) => {
      const seen: Credential[] = [];
      const authenticator = {
        authenticate(credential: Credential): Principal | undefined {
          seen.push(credential);
          return undefined;
        },
        authenticateBrowser: async () => undefined,
      };
      const authenticated = authenticate(authenticator, "key_or_user", undefined, named + sent + blanks);
      await expect(authenticated).rejects.toThrow("credentials");
      const [, presented] = /^(?:bearer|api-key)(?: |%20)+([!-~]+) *$/i.exec(named + sent + blanks) ?? [];
      const parts = presented?.split(".").length;
      const isLookedUp = parts === 1 || parts === 3;
      expect(seen).toEqual(isLookedUp ? [{ scheme: parts === 1 ? "key" : "jwt", token: presented }] : []);
    }),
    { numRuns: 2_000 },
  );
});
