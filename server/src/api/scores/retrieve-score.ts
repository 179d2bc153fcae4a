import { endpoint } from "../../http/endpoint.ts";
import { findScore, type ScoreDeps } from "./score-operations.ts";
import { presentScore, scoreSchema } from "./score-schemas.ts";

const common = {
  method: "GET",
  summary: "Retrieve a score",
  tags: ["Scores"],
  auth: "key",
  permission: "scores:read",
  limit: "api",
  success: { status: 200, schema: scoreSchema },
  errors: ["not_found"],
} as const;

export const retrieveScore = (deps: Pick<ScoreDeps, "stores">) =>
  endpoint({
    ...common,
    id: "retrieve_score",
    path: "/api/scores/{score_id}/",
    handler: async ({ principal, params }) =>
      presentScore(await findScore(deps, principal.organization_id, { scoreId: params.score_id, logId: undefined })),
  });

export const retrieveLogScore = (deps: Pick<ScoreDeps, "stores">) =>
  endpoint({
    ...common,
    id: "retrieve_log_score",
    path: "/api/logs/{log_id}/scores/{score_id}/",
    handler: async ({ principal, params }) => {
      const ids = { scoreId: params.score_id, logId: params.log_id };
      return presentScore(await findScore(deps, principal.organization_id, ids));
    },
  });
