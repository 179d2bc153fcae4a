import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { removeScore, type ScoreDeps } from "./score-operations.ts";

const common = {
  method: "DELETE",
  summary: "Delete a score",
  description: "Automations do not create it again.",
  tags: ["Scores"],
  auth: "key",
  permission: "scores:write",
  environment: "own",
  limit: "api",
  success: { status: 204 },
  errors: ["not_found"],
} as const;

export const deleteScore = (deps: ScoreDeps) =>
  endpoint({
    ...common,
    id: "delete_score",
    path: "/api/scores/{score_id}/",
    handler: async ({ principal, params }) => {
      await removeScore(deps, principal, { scoreId: params.score_id, logId: undefined });
      return reply(204);
    },
  });

export const deleteLogScore = (deps: ScoreDeps) =>
  endpoint({
    ...common,
    id: "delete_log_score",
    path: "/api/logs/{log_id}/scores/{score_id}/",
    handler: async ({ principal, params }) => {
      await removeScore(deps, principal, { scoreId: params.score_id, logId: params.log_id });
      return reply(204);
    },
  });
