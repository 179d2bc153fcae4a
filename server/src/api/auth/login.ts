import { z } from "zod";
import { userPrincipal } from "../../auth/authenticator.ts";
import type { BrowserSessions } from "../../auth/browser-sessions.ts";
import type { NoteFailedLogin } from "../../auth/failed-logins.ts";
import type { LoginThrottle } from "../../auth/login-throttle.ts";
import type { Passwords } from "../../auth/passwords.ts";
import type { Sessions } from "../../auth/sessions.ts";
import { ServiceError } from "../../domain/errors.ts";
import { canonicalEmail } from "../../domain/user.ts";
import type { Audit } from "../../http/audit.ts";
import { refuseForeignPage, sessionHeaders, sessionIdsIn } from "../../http/browser-session.ts";
import { endpoint } from "../../http/endpoint.ts";
import { addressKey } from "../../http/rate-limit.ts";
import { reply } from "../../http/reply.ts";
import { apiLimits } from "../limits.ts";
import { authLimits } from "../../auth/limits.ts";
import type { UserStore } from "../../storage/control/user-store.ts";
import { browserSessionSchema, emailSchema, tokenPairSchema } from "./schemas.ts";

export const login = (deps: {
  users: Pick<UserStore, "findByEmail">;
  passwords: Pick<Passwords, "verify">;
  signedIn: Pick<Sessions, "begin">;
  browsers: Pick<BrowserSessions, "begin" | "end">;
  throttle: LoginThrottle;
  noteFailedLogin: NoteFailedLogin;
  audit: Audit;
}) =>
  endpoint({
    id: "login",
    method: "POST",
    path: "/api/auth/login/",
    summary: "Sign in with an e-mail address and a password",
    description:
      `After ${authLimits.loginFailures} failures, the account is locked for that IP address for a while. If many addresses ` +
      "guess the password, responses to addresses that never signed in become slower.\n\n" +
      "With `session: true` a browser gets a session cookie instead of tokens, for calls from pages of this server: see " +
      "docs/people.md, Sign in from a browser.",
    tags: ["Authentication"],
    auth: "none",
    body: {
      kind: "json",
      example: { email: "admin@example.com", password: "a long enough password" },
      schema: z.object({
        email: emailSchema,
        password: z.string().max(apiLimits.passwordChars),
        session: z.boolean().optional().meta({ description: "Sets a session cookie, and returns no tokens." }),
      }),
    },
    success: { status: 200, schema: z.union([tokenPairSchema, browserSessionSchema]) },
    errors: ["unauthorized", "forbidden", "rate_limited", "unavailable"],
    handler: async ({ body, ip, requestId, signal, headers, origins }) => {
      const page = { headers, origins };
      // Otherwise a foreign page could sign its visitor in as somebody else.
      if (body.session === true) refuseForeignPage(page);
      const email = canonicalEmail(body.email);
      deps.throttle.attempt(email, ip);
      const user = await deps.users.findByEmail(email);
      const fits = await deps.passwords.verify(body.password, user?.password_hash, { party: addressKey(ip), signal });
      if (user === undefined || !fits) {
        if (user !== undefined) deps.noteFailedLogin(user, { ip, requestId });
        throw new ServiceError("unauthorized", "The e-mail address or the password is wrong.");
      }
      deps.throttle.succeeded(email, ip);
      const session = body.session === true ? await deps.browsers.begin(user) : await deps.signedIn.begin(user);
      const organizationId = user.unique_organization_id;
      const entry = { principal: userPrincipal(user), action: "login", target: user.id, organizationId };
      await deps.audit({ ...entry, sent: undefined, ip, requestId });
      if (!("id" in session)) return session;
      for (const former of sessionIdsIn(page)) await deps.browsers.end(former);
      return reply(200, { expires_in: session.expires_in, ends_at: session.ends_at }, sessionHeaders(page, session));
    },
  });
