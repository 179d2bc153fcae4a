import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { domainLimits } from "../../domain/limits.ts";
import type { SessionStore } from "../../storage/control/session-store.ts";

export const endSession = (deps: { sessions: Pick<SessionStore, "endOf">; nowMs: () => number }) =>
  endpoint({
    id: "end_session",
    method: "DELETE",
    path: "/api/auth/sessions/{id}/",
    summary: "End a session",
    description: "Ends one session of the person: its cookie or its tokens stop working, on every node.",
    tags: ["Authentication"],
    auth: "user",
    isAudited: true,
    limit: "api",
    params: z.object({ id: z.string().max(domainLimits.identifierChars) }),
    success: { status: 204 },
    errors: ["not_found", "unavailable"],
    handler: async ({ principal, params }) => {
      const now = new Date(deps.nowMs()).toISOString();
      if (await deps.sessions.endOf(principal.user_id, params.id, now)) return reply(204);
      throw new ServiceError("not_found", "You have no such session; it may have ended before.");
    },
  });
