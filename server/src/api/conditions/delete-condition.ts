import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { conditionNotFound } from "./condition-schemas.ts";

export const deleteCondition = (deps: { stores: Pick<ControlStores, "transaction"> }) =>
  endpoint({
    id: "delete_condition",
    method: "DELETE",
    path: "/automation/conditions/{condition_id}/",
    aliases: ["/api/conditions/{condition_id}/"],
    summary: "Delete a condition",
    description: "By id or slug. If automations use it, the response is 409 with their names.",
    tags: ["Automations"],
    auth: "key",
    permission: "automations:write",
    limit: "api",
    success: { status: 204 },
    errors: ["not_found", "conflict"],
    handler: async ({ principal, params }) => {
      await deps.stores.transaction(async ({ conditions, organizations }) => {
        await organizations.lock(principal.organization_id);
        const found = await conditions.find(principal.organization_id, params.condition_id);
        if (found === undefined) throw conditionNotFound();
        const users = await conditions.usedBy(found.id);
        if (users.length > 0) {
          throw new ServiceError(
            "conflict",
            `Automations use this condition: ${users.map(({ name }) => name).join(", ")}. Delete them first.`,
          );
        }
        await conditions.remove(principal.organization_id, found.id);
      });
      return reply(204);
    },
  });
