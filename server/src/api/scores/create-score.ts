import { z } from "zod";
import type { KeyPrincipal } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { createScoreOfLog, type ScoreDeps } from "./score-operations.ts";
import { newScoreSchema, presentScore, scoreSchema } from "./score-schemas.ts";

const scoreExample = { evaluator_slug: "helpfulness", numerical_value: 4, explanation: "It answers.", scorer: "kim" };

const common = {
  summary: "Score a log",
  description:
    "The evaluator's value type determines the member for the value. A log has one score per evaluator: a second one is 409.",
  tags: ["Scores"],
  auth: "key",
  permission: "scores:write",
  environment: "own",
  limit: "api",
  dialect: "fields",
  success: { status: 201, schema: scoreSchema },
  errors: ["invalid_request", "not_found", "conflict", "unavailable"],
} as const;

export const createScore = (deps: ScoreDeps) =>
  endpoint({
    ...common,
    id: "create_score",
    method: "POST",
    path: "/api/scores/",
    body: {
      kind: "json",
      schema: newScoreSchema.extend({ log_id: z.string() }),
      shown: scoreSchema,
      example: { log_id: "c5a39bb5-13ca-48d5-99fa-e84d7f8e1324", ...scoreExample },
    },
    handler: ({ principal, body }) => create(deps, principal, body.log_id, body),
  });

export const createLogScore = (deps: ScoreDeps) =>
  endpoint({
    ...common,
    id: "create_log_score",
    method: "POST",
    path: "/api/logs/{log_id}/scores/",
    body: { kind: "json", schema: newScoreSchema, shown: scoreSchema, example: scoreExample },
    handler: ({ principal, params, body }) => create(deps, principal, params.log_id, body),
  });

async function create(deps: ScoreDeps, principal: KeyPrincipal, logId: string, body: z.output<typeof newScoreSchema>) {
  const score = await createScoreOfLog(deps, principal, logId, body);
  if (score !== undefined) return presentScore(score);
  const message = "This log has a score of this evaluator already; change or delete that one.";
  return reply(409, { error: message, detail: message, code: "conflict" });
}
