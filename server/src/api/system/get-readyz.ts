import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";

/** The state of each part: `ok`, or its problem. */
export type Checks = Record<string, string>;

/** `traffic`: requirements of spans and gateway calls. `reads`: further requirements of queries. */
export type Readiness = { traffic(): Promise<Checks>; reads(): Promise<Checks> };

const flagMessage = "reads must be true or false";

const readyzQuery = z.object({
  reads: z
    .enum(["true", "false"], { error: flagMessage })
    .optional()
    .transform((text) => text === "true")
    .meta({ type: "boolean", default: false, description: "Also checks whether queries work." }),
});

export const getReadyz = (deps: { readiness: Readiness }) =>
  endpoint({
    id: "get_readyz",
    method: "GET",
    path: "/readyz",
    summary: "Check readiness",
    description:
      "Whether spans and gateway calls may be sent here, which includes times when the span store is down but the journal has room, and " +
      "when the journal is replayed. With `reads=true`: whether queries work as well. 503 with the same body if not.",
    tags: ["System"],
    auth: "none",
    query: readyzQuery,
    success: {
      status: 200,
      schema: z.object({ ready: z.boolean(), checks: z.record(z.string(), z.string()) }),
    },
    errors: ["invalid_request", "unavailable"],
    async handler({ query }) {
      const { readiness } = deps;
      const states = await Promise.all([readiness.traffic(), query.reads ? readiness.reads() : {}]);
      const checks: Checks = Object.assign({}, ...states);
      const ready = Object.values(checks).every((state) => state === "ok");
      return reply(ready ? 200 : 503, { ready, checks });
    },
  });
