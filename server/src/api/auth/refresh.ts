import { z } from "zod";
import type { Sessions } from "../../auth/sessions.ts";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { apiLimits } from "../limits.ts";
import { tokenPairSchema } from "./schemas.ts";

export const refresh = (deps: { signedIn: Pick<Sessions, "refresh"> }) =>
  endpoint({
    id: "refresh",
    method: "POST",
    path: "/api/auth/refresh/",
    summary: "Exchange a refresh token for the next pair of tokens",
    description:
      "A refresh token works once. A second use suggests that it was stolen, and ends the session with all of its tokens.",
    tags: ["Authentication"],
    auth: "none",
    body: {
      kind: "json",
      schema: z.object({ refresh: z.string().max(apiLimits.tokenChars) }),
      example: { refresh: "eyJ…" },
    },
    success: { status: 200, schema: tokenPairSchema },
    errors: ["unauthorized", "unavailable"],
    handler: async ({ body }) => {
      const pair = await deps.signedIn.refresh(body.refresh);
      if (pair === undefined) throw new ServiceError("unauthorized", "The refresh token is not valid. Sign in again.");
      return pair;
    },
  });
