import { z } from "zod";
import type { Sessions } from "../../auth/sessions.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { SessionStore } from "../../storage/control/session-store.ts";
import { currentSessionIds } from "./current-session.ts";

const time = z.string().meta({ format: "date-time" });

const sessionSchema = z
  .object({
    id: z.string(),
    kind: z.enum(["browser", "token"]).meta({ description: "A session cookie or tokens." }),
    is_current: z.boolean().meta({ description: "Whether this request belongs to it." }),
    created_at: time.meta({ description: "When the person signed in." }),
    expires_at: time.meta({ description: "When it ends unless it is used." }),
    ends_at: time
      .nullable()
      .meta({ description: "When it ends in any case; null for tokens, which can be refreshed." }),
  })
  .meta({ id: "Session" });

export const listSessions = (deps: {
  sessions: Pick<SessionStore, "list">;
  signedIn: Pick<Sessions, "idOf">;
  nowMs: () => number;
}) =>
  endpoint({
    id: "list_sessions",
    method: "GET",
    path: "/api/auth/sessions/",
    summary: "List your sessions",
    description: "The person's own sessions that have not ended, newest first.",
    tags: ["Authentication"],
    auth: "user",
    limit: "api",
    success: { status: 200, schema: z.object({ results: z.array(sessionSchema) }) },
    errors: ["unavailable"],
    handler: async ({ principal, headers, origins }) => {
      const current = await currentSessionIds(deps, { headers, origins });
      const sessions = await deps.sessions.list(principal.user_id, new Date(deps.nowMs()).toISOString());
      const results = sessions.map(({ id, created_at, expires_at, ends_at }) => ({
        id,
        kind: ends_at === null ? ("token" as const) : ("browser" as const),
        is_current: current.includes(id),
        created_at,
        expires_at,
        ends_at,
      }));
      return { results };
    },
  });
