import { z } from "zod";
import { findTokenUser } from "../../auth/authenticator.ts";
import type { Tokens } from "../../auth/tokens.ts";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import type { UserStore } from "../../storage/control/user-store.ts";
import { tokenPairSchema } from "./schemas.ts";

export const refresh = (deps: { users: Pick<UserStore, "find">; tokens: Pick<Tokens, "issue" | "readRefresh"> }) =>
  endpoint({
    id: "refresh",
    method: "POST",
    path: "/api/auth/refresh/",
    summary: "Trade a refresh token for the next pair of tokens",
    tags: ["Authentication"],
    auth: "none",
    body: { kind: "json", schema: z.object({ refresh: z.string().max(4096) }), example: { refresh: "eyJ…" } },
    success: { status: 200, schema: tokenPairSchema },
    errors: ["unauthorized", "unavailable"],
    handler: async ({ body }) => {
      const claims = await deps.tokens.readRefresh(body.refresh);
      const user = claims && (await findTokenUser(deps.users, claims));
      if (user === undefined) throw new ServiceError("unauthorized", "The refresh token is not valid. Sign in again.");
      return deps.tokens.issue(user);
    },
  });
