import { endpoint } from "../../http/endpoint.ts";
import { changeScore, type ScoreDeps } from "./score-operations.ts";
import { presentScore, scoreChangeSchema, scoreSchema } from "./score-schemas.ts";

const common = {
  tags: ["Scores"],
  auth: "key",
  permission: "scores:write",
  environment: "own",
  limit: "api",
  dialect: "fields",
  body: {
    kind: "json",
    schema: scoreChangeSchema,
    shown: scoreSchema,
    example: { numerical_value: 5, explanation: "Even better, read again." },
  },
  success: { status: 200, schema: scoreSchema },
  errors: ["invalid_request", "not_found"],
} as const;
const patch = { method: "PATCH", summary: "Change a score", description: "Omitted members keep their value." } as const;
const put = { method: "PUT", summary: "Replace a score", description: "Its log and evaluator do not change." } as const;
const path = "/api/scores/{score_id}/";
const logPath = "/api/logs/{log_id}/scores/{score_id}/";

export const updateScore = (deps: ScoreDeps) =>
  endpoint({
    ...common,
    ...patch,
    id: "update_score",
    path,
    handler: async ({ principal, params, body }) => {
      const ids = { scoreId: params.score_id, logId: undefined };
      return presentScore(await changeScore(deps, principal, ids, { sent: body, keeps: true }));
    },
  });

export const replaceScore = (deps: ScoreDeps) =>
  endpoint({
    ...common,
    ...put,
    id: "replace_score",
    path,
    handler: async ({ principal, params, body }) => {
      const ids = { scoreId: params.score_id, logId: undefined };
      return presentScore(await changeScore(deps, principal, ids, { sent: body, keeps: false }));
    },
  });

export const updateLogScore = (deps: ScoreDeps) =>
  endpoint({
    ...common,
    ...patch,
    id: "update_log_score",
    path: logPath,
    handler: async ({ principal, params, body }) => {
      const ids = { scoreId: params.score_id, logId: params.log_id };
      return presentScore(await changeScore(deps, principal, ids, { sent: body, keeps: true }));
    },
  });

export const replaceLogScore = (deps: ScoreDeps) =>
  endpoint({
    ...common,
    ...put,
    id: "replace_log_score",
    path: logPath,
    handler: async ({ principal, params, body }) => {
      const ids = { scoreId: params.score_id, logId: params.log_id };
      return presentScore(await changeScore(deps, principal, ids, { sent: body, keeps: false }));
    },
  });
