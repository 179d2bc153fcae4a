import { z } from "zod";
import { userPrincipal } from "../../auth/authenticator.ts";
import type { BrowserSessions } from "../../auth/browser-sessions.ts";
import type { Sessions } from "../../auth/sessions.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { User } from "../../domain/user.ts";
import type { Audit } from "../../http/audit.ts";
import { requireOwnPage, sessionHeaders, sessionIdsIn } from "../../http/browser-session.ts";
import { endpoint } from "../../http/endpoint.ts";
import { bearerIn } from "./current-session.ts";
import { reply } from "../../http/reply.ts";
import { apiLimits } from "../limits.ts";

export const logout = (deps: {
  signedIn: Pick<Sessions, "end">;
  browsers: Pick<BrowserSessions, "end">;
  audit: Audit;
}) =>
  endpoint({
    id: "logout",
    method: "POST",
    path: "/api/auth/logout/",
    summary: "Sign out",
    description:
      "Ends the session of the refresh token in the body, otherwise that of the access token in the Authorization header, otherwise that of " +
      "the session cookie: all of its tokens stop working, on every node.",
    tags: ["Authentication"],
    auth: "none",
    body: {
      kind: "json",
      schema: z.object({ refresh: z.string().max(apiLimits.tokenChars).optional() }),
      example: { refresh: "eyJ…" },
    },
    success: { status: 204 },
    errors: ["invalid_request", "unauthorized", "forbidden", "unavailable"],
    handler: async ({ body, headers, origins, ip, requestId }) => {
      const note = async (user: User): Promise<void> => {
        const organizationId = user.unique_organization_id;
        const entry = { principal: userPrincipal(user), action: "logout", target: user.id, organizationId };
        await deps.audit({ ...entry, sent: undefined, ip, requestId });
      };
      const page = { headers, origins };
      const ids = sessionIdsIn(page);
      if (ids.length > 0 && body.refresh === undefined && headers.authorization === undefined) {
        requireOwnPage("POST", page);
        for (const id of ids) {
          const user = await deps.browsers.end(id);
          if (user !== undefined) await note(user);
        }
        // Sent even if the session had ended: the browser must forget it.
        return reply(204, undefined, sessionHeaders(page, { id: "", ends_in: 0 }));
      }
      const token = body.refresh ?? bearerIn(headers);
      const user = token === undefined ? undefined : await deps.signedIn.end(token);
      if (user === undefined) {
        throw new ServiceError("unauthorized", "There is no such session; it may have ended before.");
      }
      await note(user);
      return reply(204);
    },
  });
