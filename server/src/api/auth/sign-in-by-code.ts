import { z } from "zod";
import { userPrincipal } from "../../auth/authenticator.ts";
import type { BrowserSessions } from "../../auth/browser-sessions.ts";
import type { LoginThrottle } from "../../auth/login-throttle.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { Audit } from "../../http/audit.ts";
import { prefersHtml } from "../../http/accept.ts";
import { sessionHeaders } from "../../http/browser-session.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply, type Reply } from "../../http/reply.ts";
import { apiLimits } from "../limits.ts";

/** Key by which failures are counted, beside the IP address. No e-mail address looks like this. */
const throttled = "sign-in code";

export const signInByCode = (deps: {
  browsers: Pick<BrowserSessions, "beginByCode">;
  throttle: LoginThrottle;
  audit: Audit;
}) =>
  endpoint({
    id: "sign_in_by_code",
    method: "GET",
    path: "/sign-in",
    summary: "Sign in once with the link that the first start printed",
    description:
      "Sets a session cookie and redirects to the web application at `/`. It works once, for an hour, on the machine of the server; " +
      "a browser that follows it again, or after too many wrong links, is redirected to the login page without a new session.",
    tags: ["Authentication"],
    auth: "none",
    query: z.object({ code: z.string().max(apiLimits.tokenChars) }),
    success: { status: 303, description: "The session cookie is set." },
    errors: ["forbidden", "not_found", "rate_limited", "unavailable"],
    handler: async ({ method, query, ip, url, requestId, headers, origins }) => {
      if (!isLoopback(ip) || !isLoopback(new URL(origins[0] ?? url).hostname)) {
        throw new ServiceError("forbidden", "This link works on the machine of the server only, as it was printed.");
      }
      // A preview or a link checker must not use up the code.
      if (method === "HEAD") return reply(303, undefined, toApplication);
      const isBrowser = prefersHtml(headers.accept, "named");
      try {
        deps.throttle.attempt(throttled, ip);
      } catch (error) {
        if (!isBrowser || !(error instanceof ServiceError)) throw error;
        return toLogin("throttled");
      }
      const signIn = await deps.browsers.beginByCode(query.code);
      if (signIn === undefined) {
        // A browser that followed the link before still has its session, or is asked for the password.
        if (isBrowser) return toLogin("used");
        throw new ServiceError("not_found", "The link was used or has expired. Sign in with the password.");
      }
      deps.throttle.succeeded(throttled, ip);
      const { user, session } = signIn;
      const organizationId = user.unique_organization_id;
      const entry = { principal: userPrincipal(user), action: "sign_in_by_code", target: user.id, organizationId };
      await deps.audit({ ...entry, sent: undefined, ip, requestId });
      return reply(303, undefined, {
        ...toApplication,
        ...sessionHeaders({ headers, origins }, session),
      });
    },
  });

const toApplication = {
  location: "/",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

/** The login page states why the link did not work. */
const toLogin = (link: "used" | "throttled"): Reply =>
  reply(303, undefined, { ...toApplication, location: `/login?link=${link}` });

function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d+){3}|::ffff:127(?:\.\d+){3}|::1|\[::1\]|localhost)$/.test(host);
}
