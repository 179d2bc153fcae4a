import { requireOwnEnvironment } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { reply } from "../../http/reply.ts";
import { automationNotFound } from "./automation-schemas.ts";
import type { AutomationDeps } from "./create-automation.ts";

export const deleteAutomation = ({ stores, activeAutomations }: AutomationDeps) =>
  endpoint({
    id: "delete_automation",
    method: "DELETE",
    path: "/automation/automations/{automation_id}/",
    aliases: ["/api/automations/{automation_id}/"],
    summary: "Delete an automation",
    description: "By id or slug. Waiting logs are not evaluated; existing scores remain.",
    tags: ["Automations"],
    auth: "key",
    permission: "automations:write",
    environment: "own",
    limit: "api",
    success: { status: 204 },
    errors: ["not_found"],
    handler: async ({ principal, params }) => {
      const found = await stores.automations.find(principal.organization_id, params.automation_id);
      if (found === undefined) throw automationNotFound();
      requireOwnEnvironment(principal, found.environment, "this automation");
      await stores.automations.remove(principal.organization_id, found.id);
      await activeAutomations.refresh();
      return reply(204);
    },
  });
