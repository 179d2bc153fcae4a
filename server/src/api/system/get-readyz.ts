import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";

/** Whether requests would succeed now, and what each part says of itself: `ok` or what is wrong with it. */
export type Readiness = { ready: boolean; checks: Record<string, string> };

export const getReadyz = (deps: { readiness: () => Readiness | Promise<Readiness> }) =>
  endpoint({
    id: "get_readyz",
    method: "GET",
    path: "/readyz",
    summary: "Can the process serve requests?",
    description: "The journal has been replayed and the stores answer. 503 with the same body while it cannot.",
    tags: ["System"],
    auth: "none",
    success: {
      status: 200,
      schema: z.object({ ready: z.boolean(), checks: z.record(z.string(), z.string()) }),
    },
    errors: ["unavailable"],
    async handler() {
      const { ready, checks } = await deps.readiness();
      return reply(ready ? 200 : 503, { ready, checks });
    },
  });
