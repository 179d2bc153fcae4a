import { endpoint } from "../../http/endpoint.ts";
import type { EvaluatorStore } from "../../storage/control/evaluator-store.ts";
import { evaluatorNotFound, evaluatorSchema, presentEvaluator } from "./evaluator-schemas.ts";

export const retrieveEvaluator = (deps: { evaluators: Pick<EvaluatorStore, "find"> }) =>
  endpoint({
    id: "retrieve_evaluator",
    method: "GET",
    path: "/api/evaluators/{evaluator_id}/",
    aliases: ["/evaluators/{evaluator_id}/"],
    summary: "Retrieve an evaluator",
    description: "By id or slug.",
    tags: ["Evaluators"],
    auth: "key",
    permission: "automations:read",
    limit: "api",
    success: { status: 200, schema: evaluatorSchema },
    errors: ["not_found"],
    handler: async ({ principal, params }) => {
      const found = await deps.evaluators.find(principal.organization_id, params.evaluator_id);
      if (found === undefined) throw evaluatorNotFound();
      return presentEvaluator(found);
    },
  });
