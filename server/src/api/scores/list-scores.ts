import { z } from "zod";
import { environments } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { noFilters, pageOf, paginate } from "../../http/pagination.ts";
import { wholeNumber } from "../../http/query.ts";
import { apiLimits } from "../limits.ts";
import { httpLimits } from "../../http/limits.ts";
import { requireLog, type ScoreDeps } from "./score-operations.ts";
import { presentScore, scoreSchema } from "./score-schemas.ts";

const paging = {
  page: wholeNumber("page", { min: 1, max: httpLimits.pageMax, default: 1 }),
  page_size: wholeNumber("page_size", {
    min: 1,
    max: apiLimits.scorePageSizeMax,
    default: apiLimits.conditionPageSizeDefault,
  }),
};

const common = {
  method: "GET",
  tags: ["Scores"],
  auth: "key",
  permission: "scores:read",
  limit: "api",
  success: { status: 200, schema: pageOf(scoreSchema) },
} as const;

export const listScores = ({ stores }: Pick<ScoreDeps, "stores">) =>
  endpoint({
    ...common,
    id: "list_scores",
    path: "/api/scores/",
    aliases: [{ method: "POST", path: "/api/scores/list/" }],
    summary: "List scores",
    description: "Newest first, from both environments unless the query names one.",
    query: z.object({
      ...paging,
      log_id: z.string().optional(),
      evaluator_id: z.string().optional(),
      automation_id: z.string().optional(),
      environment: z.enum(environments).optional(),
    }),
    body: noFilters,
    errors: ["invalid_request"],
    handler: async ({ principal, query, url }) => {
      const { page, page_size: pageSize, ...filter } = query;
      const slice = { limit: pageSize, offset: (page - 1) * pageSize };
      const { count, scores } = await stores.scores.list(principal.organization_id, filter, slice);
      return paginate({ url, query, page, pageSize, count, results: scores.map(presentScore) });
    },
  });

export const listLogScores = (deps: ScoreDeps) =>
  endpoint({
    ...common,
    id: "list_log_scores",
    path: "/api/logs/{log_id}/scores/",
    summary: "List the scores of a log",
    description: "Newest first, including failed ones.",
    query: z.object(paging),
    errors: ["invalid_request", "not_found", "unavailable"],
    handler: async ({ principal, params, query, url }) => {
      const organization = principal.organization_id;
      await requireLog(deps, organization, params.log_id);
      const { page, page_size: pageSize } = query;
      const slice = { limit: pageSize, offset: (page - 1) * pageSize };
      const filter = { log_id: params.log_id.toLowerCase() };
      const { count, scores } = await deps.stores.scores.list(organization, filter, slice);
      return paginate({ url, query, page, pageSize, count, results: scores.map(presentScore) });
    },
  });
