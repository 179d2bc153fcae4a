import { z } from "zod";
import { userPrincipal } from "../../auth/authenticator.ts";
import { createFailedLogins } from "../../auth/failed-logins.ts";
import type { LoginThrottle } from "../../auth/login-throttle.ts";
import type { Passwords } from "../../auth/passwords.ts";
import type { Sessions } from "../../auth/sessions.ts";
import { ServiceError } from "../../domain/errors.ts";
import { canonicalEmail } from "../../domain/user.ts";
import type { Audit } from "../../http/audit.ts";
import { endpoint } from "../../http/endpoint.ts";
import { addressKey } from "../../http/rate-limit.ts";
import { limits } from "../../limits.ts";
import type { UserStore } from "../../storage/control/user-store.ts";
import { emailSchema, tokenPairSchema } from "./schemas.ts";

export const login = (deps: {
  users: Pick<UserStore, "findByEmail">;
  passwords: Pick<Passwords, "verify">;
  signedIn: Pick<Sessions, "begin">;
  throttle: LoginThrottle;
  audit: Audit;
  nowMs: () => number;
}) => {
  const noteFailure = createFailedLogins(deps);
  return endpoint({
    id: "login",
    method: "POST",
    path: "/api/auth/login/",
    summary: "Sign in with an e-mail address and a password",
    description:
      `After ${limits.loginFailures} failures the account is closed to the address for a while; one that many addresses ` +
      "guess at answers more slowly to those that it never signed in from.",
    tags: ["Authentication"],
    auth: "none",
    body: {
      kind: "json",
      example: { email: "admin@example.com", password: "a long enough password" },
      schema: z.object({ email: emailSchema, password: z.string().max(limits.passwordChars) }),
    },
    success: { status: 200, schema: tokenPairSchema },
    errors: ["unauthorized", "rate_limited", "unavailable"],
    handler: async ({ body, ip, requestId, signal }) => {
      const email = canonicalEmail(body.email);
      deps.throttle.attempt(email, ip);
      const user = await deps.users.findByEmail(email);
      const fits = await deps.passwords.verify(body.password, user?.password_hash, { party: addressKey(ip), signal });
      if (user === undefined || !fits) {
        if (user !== undefined) noteFailure(user, { ip, requestId });
        throw new ServiceError("unauthorized", "The e-mail address or the password is wrong.");
      }
      deps.throttle.succeeded(email, ip);
      const pair = await deps.signedIn.begin(user);
      const organizationId = user.unique_organization_id;
      const entry = { principal: userPrincipal(user), action: "login", target: user.id, organizationId };
      await deps.audit({ ...entry, sent: undefined, ip, requestId });
      return pair;
    },
  });
};
