import { randomUUID } from "node:crypto";
import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { pageOf, paginate } from "../../http/pagination.ts";
import { pagingQuery } from "../../http/query.ts";
import { apiLimits } from "../limits.ts";
import { httpLimits } from "../../http/limits.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { definitionOf, type EvaluatorStore } from "../../storage/control/evaluator-store.ts";
import { evaluatorNotFound, evaluatorSchema, presentVersion } from "./evaluator-schemas.ts";

const path = "/api/evaluators/{evaluator_id}/versions/";
const aliases = ["/evaluators/{evaluator_id}/versions/"] as const;
const tags = ["Evaluators"];

export const createEvaluatorVersion = (deps: { stores: Pick<ControlStores, "transaction">; nowMs: () => number }) =>
  endpoint({
    id: "create_evaluator_version",
    method: "POST",
    path,
    aliases,
    summary: "Publish a version of an evaluator",
    description: "Stores the current evaluator under the next number. Automations run the evaluator itself.",
    tags,
    auth: "key",
    permission: "automations:write",
    limit: "api",
    body: {
      kind: "json",
      example: { version_description: "the first" },
      schema: z.strictObject({ version_description: z.string().max(httpLimits.nameChars).default("") }),
    },
    success: { status: 201, schema: evaluatorSchema },
    errors: ["not_found", "conflict"],
    handler: async ({ principal, params, body }) =>
      deps.stores.transaction(async ({ evaluators, organizations }) => {
        await organizations.lock(principal.organization_id);
        const found = await evaluators.find(principal.organization_id, params.evaluator_id);
        if (found === undefined) throw evaluatorNotFound();
        const version = await evaluators.addVersion({
          version_id: randomUUID(),
          evaluator_id: found.id,
          version_description: body.version_description,
          definition: definitionOf(found),
          created_at: new Date(deps.nowMs()).toISOString(),
        });
        return presentVersion(found, version);
      }),
  });

export const listEvaluatorVersions = (deps: { evaluators: Pick<EvaluatorStore, "find" | "listVersions"> }) =>
  endpoint({
    id: "list_evaluator_versions",
    method: "GET",
    path,
    aliases,
    summary: "List the versions of an evaluator",
    description: "Newest first.",
    tags,
    auth: "key",
    permission: "automations:read",
    limit: "api",
    query: z.object(pagingQuery(apiLimits.conditionPageSizeDefault)),
    success: { status: 200, schema: pageOf(evaluatorSchema) },
    errors: ["not_found"],
    handler: async ({ principal, params, query, url }) => {
      const found = await deps.evaluators.find(principal.organization_id, params.evaluator_id);
      if (found === undefined) throw evaluatorNotFound();
      const { page, page_size: pageSize } = query;
      const versions = await deps.evaluators.listVersions(found.id);
      const rows = versions.slice((page - 1) * pageSize, page * pageSize);
      const results = rows.map((version) => presentVersion(found, version));
      return paginate({ url, query, page, pageSize, count: versions.length, results });
    },
  });

export const retrieveEvaluatorVersion = (deps: { evaluators: Pick<EvaluatorStore, "find" | "listVersions"> }) =>
  endpoint({
    id: "retrieve_evaluator_version",
    method: "GET",
    path: "/api/evaluators/{evaluator_id}/versions/{version}/",
    aliases: ["/evaluators/{evaluator_id}/versions/{version}/"],
    summary: "Retrieve a version of an evaluator",
    description: "By number or version_id.",
    tags,
    auth: "key",
    permission: "automations:read",
    limit: "api",
    success: { status: 200, schema: evaluatorSchema },
    errors: ["not_found"],
    handler: async ({ principal, params }) => {
      const found = await deps.evaluators.find(principal.organization_id, params.evaluator_id);
      const versions = found === undefined ? [] : await deps.evaluators.listVersions(found.id);
      const version = versions.find((each) => [each.version_id, String(each.version)].includes(params.version));
      if (found === undefined || version === undefined) throw evaluatorNotFound();
      return presentVersion(found, version);
    },
  });
