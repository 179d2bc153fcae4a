import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { evaluatorNotFound } from "./evaluator-schemas.ts";

export const deleteEvaluator = ({ stores }: { stores: Pick<ControlStores, "transaction"> }) =>
  endpoint({
    id: "delete_evaluator",
    method: "DELETE",
    path: "/api/evaluators/{evaluator_id}/",
    aliases: ["/evaluators/{evaluator_id}/"],
    summary: "Delete an evaluator",
    description:
      "By id or slug, with its versions; its scores remain. If automations use it, the response is 409 with their names.",
    tags: ["Evaluators"],
    auth: "key",
    permission: "automations:write",
    limit: "api",
    success: { status: 204 },
    errors: ["not_found", "conflict"],
    handler: async ({ principal, params }) => {
      await stores.transaction(async ({ evaluators, organizations }) => {
        await organizations.lock(principal.organization_id);
        const found = await evaluators.find(principal.organization_id, params.evaluator_id);
        if (found === undefined) throw evaluatorNotFound();
        const users = await evaluators.usedBy(found.id);
        if (users.length > 0) {
          throw new ServiceError(
            "conflict",
            `Automations use this evaluator: ${users.map(({ name }) => name).join(", ")}.`,
          );
        }
        await evaluators.remove(principal.organization_id, found.id);
      });
      return reply(204);
    },
  });
