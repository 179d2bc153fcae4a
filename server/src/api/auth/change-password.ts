import { z } from "zod";
import type { BrowserSessions } from "../../auth/browser-sessions.ts";
import type { NoteFailedLogin } from "../../auth/failed-logins.ts";
import type { LoginThrottle } from "../../auth/login-throttle.ts";
import type { Passwords } from "../../auth/passwords.ts";
import { lockAccount, type Sessions } from "../../auth/sessions.ts";
import { ServiceError } from "../../domain/errors.ts";
import { sessionHeaders } from "../../http/browser-session.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { apiLimits } from "../limits.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { browserSessionSchema, newPasswordSchema, tokenPairSchema } from "./schemas.ts";

export const changePassword = (deps: {
  stores: Pick<ControlStores, "users" | "transaction">;
  passwords: Pick<Passwords, "hash" | "verify">;
  signedIn: Pick<Sessions, "begin">;
  browsers: Pick<BrowserSessions, "begin">;
  throttle: LoginThrottle;
  noteFailedLogin: NoteFailedLogin;
}) =>
  endpoint({
    id: "change_password",
    method: "POST",
    path: "/api/auth/password/",
    summary: "Change your password",
    description:
      "Ends all sessions of the person, on every node, with their tokens and temporary keys. The response starts a new one of the " +
      "same kind as the caller's: a session cookie, or a pair of tokens. A wrong current password counts as a failed sign-in.",
    tags: ["Authentication"],
    auth: "user",
    isAudited: true,
    auditTarget: ({ principal }) => principal.user_id,
    body: {
      kind: "json",
      example: { current_password: "the password until now", new_password: "a long enough password" },
      schema: z.object({ current_password: z.string().max(apiLimits.passwordChars), new_password: newPasswordSchema }),
    },
    success: { status: 200, schema: z.union([tokenPairSchema, browserSessionSchema]) },
    errors: ["invalid_request", "unauthorized", "rate_limited", "unavailable"],
    handler: async ({ principal, body, ip, requestId, signal, headers, origins }) => {
      const { email } = principal;
      const turn = { party: principal.organization_id, signal };
      deps.throttle.attempt(email, ip);
      const user = await deps.stores.users.findByEmail(email);
      const fits = await deps.passwords.verify(body.current_password, user?.password_hash, turn);
      if (user === undefined || !fits) {
        if (user !== undefined) deps.noteFailedLogin(user, { ip, requestId });
        const wrong = "is not your password";
        throw new ServiceError("invalid_request", `current_password ${wrong}.`, {
          errors: { current_password: [wrong] },
        });
      }
      deps.throttle.succeeded(email, ip);
      // Revealed only to someone who knows the current password.
      if (body.new_password === body.current_password) throw unchanged();
      const password_hash = await deps.passwords.hash(body.new_password, turn);
      await deps.stores.transaction(async (set) => {
        await lockAccount(set, user.id, user.password_hash);
        await set.users.setPassword(user.id, password_hash);
      });
      if (headers.authorization !== undefined) return deps.signedIn.begin({ id: user.id, password_hash });
      const session = await deps.browsers.begin({ id: user.id, password_hash });
      const { expires_in, ends_at } = session;
      return reply(200, { expires_in, ends_at }, sessionHeaders({ headers, origins }, session));
    },
  });

function unchanged(): ServiceError {
  const problem = "must differ from the current password";
  return new ServiceError("invalid_request", `new_password ${problem}.`, { errors: { new_password: [problem] } });
}
