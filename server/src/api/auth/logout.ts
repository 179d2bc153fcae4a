import { z } from "zod";
import type { Sessions } from "../../auth/sessions.ts";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { limits } from "../../limits.ts";

export const logout = (deps: { signedIn: Pick<Sessions, "end"> }) =>
  endpoint({
    id: "logout",
    method: "POST",
    path: "/api/auth/logout/",
    summary: "Sign out",
    description:
      "Ends the session of the refresh token in the body, else that of the access token in the Authorization header: none of its " +
      "tokens works any more, on any node.",
    tags: ["Authentication"],
    auth: "none",
    body: {
      kind: "json",
      schema: z.object({ refresh: z.string().max(limits.tokenChars).optional() }),
      example: { refresh: "eyJ…" },
    },
    success: { status: 204 },
    errors: ["unauthorized", "unavailable"],
    handler: async ({ body, headers }) => {
      const token = body.refresh ?? /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
      if (token === undefined || !(await deps.signedIn.end(token))) {
        throw new ServiceError("unauthorized", "There is no such session; it may have ended before.");
      }
      return reply(204);
    },
  });
