import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { langfuseScoreSchema, recordLangfuseScore, type LangfuseScoreDeps } from "./langfuse-score.ts";

export const createLangfuseScore = (deps: LangfuseScoreDeps) =>
  endpoint({
    id: "create_langfuse_score",
    method: "POST",
    path: "/api/public/scores",
    summary: "Score a trace or a span as Langfuse does",
    description:
      "Langfuse's score API: the score becomes one of the evaluator `name`, of the span `observationId` or of the root of the " +
      "trace. A second score of that name replaces the first. A score of a trace waits some seconds for it.",
    tags: ["Scores"],
    auth: "key",
    permission: "scores:write",
    limit: "api",
    dialect: "fields",
    body: {
      kind: "json",
      schema: langfuseScoreSchema,
      example: {
        traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
        observationId: "00f067aa0ba902b7",
        name: "relevance",
        value: 0.9,
        dataType: "NUMERIC",
      },
    },
    success: { status: 200, schema: z.object({ id: z.string() }) },
    errors: ["invalid_request", "unavailable"],
    handler: async ({ principal, body, signal }) => {
      const { id } = await recordLangfuseScore(deps, principal, { sent: body, signal });
      return { id };
    },
  });
