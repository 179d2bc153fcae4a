import { z } from "zod";
import { scoreValueTypes, evaluatorTypes, type Evaluator } from "../../domain/evaluator.ts";
import { endpoint } from "../../http/endpoint.ts";
import { noFilters, pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery } from "../../http/query.ts";
import { apiLimits } from "../limits.ts";
import type { EvaluatorStore } from "../../storage/control/evaluator-store.ts";
import { evaluatorSchema, presentEvaluator } from "./evaluator-schemas.ts";

const listQuery = z.object({
  ...pagingQuery(apiLimits.conditionPageSizeDefault),
  search: z.string().optional().meta({ description: "Part of the name or the slug, case-insensitive." }),
  type: z.enum(evaluatorTypes).optional(),
  score_value_type: z.enum(scoreValueTypes).optional(),
  starred: z.stringbool().optional(),
  tags: z.string().optional().meta({ description: "Comma-separated; an evaluator must have all of them." }),
});

export const listEvaluators = (deps: { evaluators: Pick<EvaluatorStore, "list"> }) =>
  endpoint({
    id: "list_evaluators",
    method: "GET",
    path: "/api/evaluators/",
    aliases: [
      "/evaluators/",
      { method: "POST", path: "/api/evaluators/list/" },
      { method: "POST", path: "/evaluators/list/" },
    ],
    summary: "List evaluators",
    description: "Newest first.",
    tags: ["Evaluators"],
    auth: "key",
    permission: "automations:read",
    limit: "api",
    query: listQuery,
    body: noFilters,
    success: { status: 200, schema: pageOf(evaluatorSchema) },
    errors: ["invalid_request"],
    handler: async ({ principal, query, url }) => {
      const { page, page_size: pageSize } = query;
      // An organization has a bounded number of evaluators, so the page is sliced here.
      const all = (await deps.evaluators.list(principal.organization_id)).filter((row) => isWanted(row, query));
      const results = all.slice((page - 1) * pageSize, page * pageSize).map(presentEvaluator);
      return paginate({ url, query, page, pageSize, count: all.length, results });
    },
  });

function isWanted(evaluator: Evaluator, query: z.output<typeof listQuery>): boolean {
  const needle = (query.search ?? "").toLowerCase();
  const tags = (query.tags ?? "").split(",").filter((tag) => tag !== "");
  return (
    [evaluator.name, evaluator.evaluator_slug].some((text) => text.toLowerCase().includes(needle)) &&
    (query.type === undefined || evaluator.type === query.type) &&
    (query.score_value_type === undefined || evaluator.score_value_type === query.score_value_type) &&
    (query.starred === undefined || evaluator.starred === query.starred) &&
    tags.every((tag) => evaluator.tags.includes(tag))
  );
}
