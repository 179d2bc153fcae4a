import { z } from "zod";
import type { LoginThrottle } from "../../auth/login-throttle.ts";
import type { Passwords } from "../../auth/passwords.ts";
import type { Tokens } from "../../auth/tokens.ts";
import { ServiceError } from "../../domain/errors.ts";
import { canonicalEmail } from "../../domain/user.ts";
import { endpoint } from "../../http/endpoint.ts";
import { limits } from "../../limits.ts";
import type { UserStore } from "../../storage/control/user-store.ts";
import { emailSchema, tokenPairSchema } from "./schemas.ts";

export const login = (deps: {
  users: Pick<UserStore, "findByEmail">;
  passwords: Pick<Passwords, "verify">;
  tokens: Pick<Tokens, "issue">;
  throttle: LoginThrottle;
}) =>
  endpoint({
    id: "login",
    method: "POST",
    path: "/api/auth/login/",
    summary: "Sign in with an e-mail address and a password",
    description: `After ${limits.loginFailures} failures the account is closed to the address for a while.`,
    tags: ["Authentication"],
    auth: "none",
    body: {
      kind: "json",
      example: { email: "admin@example.com", password: "a long enough password" },
      schema: z.object({ email: emailSchema, password: z.string().max(limits.passwordChars) }),
    },
    success: { status: 200, schema: tokenPairSchema },
    errors: ["unauthorized", "rate_limited", "unavailable"],
    handler: async ({ body, ip }) => {
      const email = canonicalEmail(body.email);
      deps.throttle.attempt(email, ip);
      const user = await deps.users.findByEmail(email);
      const fits = await deps.passwords.verify(body.password, user?.password_hash);
      if (user === undefined || !fits) {
        throw new ServiceError("unauthorized", "The e-mail address or the password is wrong.");
      }
      deps.throttle.succeeded(email, ip);
      return deps.tokens.issue(user);
    },
  });
