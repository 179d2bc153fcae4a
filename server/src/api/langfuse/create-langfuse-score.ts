import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { validate } from "../../http/validate.ts";
import { storageLimits } from "../../storage/limits.ts";
import {
  langfuseScoreSchema,
  recordLangfuseScore,
  recordOneOf,
  type LangfuseScore,
  type LangfuseScoreDeps,
} from "./langfuse-score.ts";

/** The handler validates each score, so that an error names its member. */
const oneOrMore = z.union([z.looseObject({}), z.array(z.unknown()).min(1).max(storageLimits.bulkRows)]).meta({
  description: "A score, or a list of them: `traceId`, `observationId`, `name`, `value`, `dataType`, `comment`.",
});
const results = z.object({
  accepted: z.int(),
  rejected: z.int(),
  errors: z.array(z.object({ message: z.string() })),
});

export const createLangfuseScore = (deps: LangfuseScoreDeps) =>
  endpoint({
    id: "create_langfuse_score",
    method: "POST",
    path: "/api/public/scores",
    summary: "Score a trace or a span as Langfuse does",
    description:
      "Langfuse's score API: creates a score of the evaluator `name` for the span `observationId` or the root of the " +
      "trace. A second score of that name replaces the first. A score of a trace waits some seconds for the trace. A list, as the Python SDK " +
      "sends it from version 5 on, returns 202, or 207 with the errors of some.",
    tags: ["Scores"],
    auth: "key",
    permission: "scores:write",
    limit: "api",
    dialect: "fields",
    body: {
      kind: "json",
      schema: oneOrMore,
      example: {
        traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
        observationId: "00f067aa0ba902b7",
        name: "relevance",
        value: 0.9,
        dataType: "NUMERIC",
      },
    },
    success: { status: 200, schema: z.union([z.object({ id: z.string() }), results]) },
    errors: ["invalid_request", "unavailable"],
    handler: async ({ principal, body, signal }) => {
      if (!Array.isArray(body)) {
        const sent = validate(langfuseScoreSchema, body) as LangfuseScore;
        const { id } = await recordLangfuseScore(deps, principal, { sent, signal });
        return { id };
      }
      const errors: Array<{ message: string }> = [];
      for (const given of body) {
        const message = await recordOneOf(deps, principal, { given, signal });
        if (message !== undefined) errors.push({ message });
      }
      if (errors.length === 0) return reply(202, { message: "Accepted" });
      return reply(207, { accepted: body.length - errors.length, rejected: errors.length, errors });
    },
  });
