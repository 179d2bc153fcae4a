import { endpoint } from "../../http/endpoint.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { automationNotFound, automationSchema, describeAutomations } from "./automation-schemas.ts";

export const retrieveAutomation = ({ stores }: { stores: ControlStores }) =>
  endpoint({
    id: "retrieve_automation",
    method: "GET",
    path: "/automation/automations/{automation_id}/",
    aliases: ["/api/automations/{automation_id}/"],
    summary: "Retrieve an automation",
    description: "By id or slug.",
    tags: ["Automations"],
    auth: "key",
    permission: "automations:read",
    limit: "api",
    success: { status: 200, schema: automationSchema },
    errors: ["not_found"],
    handler: async ({ principal, params }) => {
      const found = await stores.automations.find(principal.organization_id, params.automation_id);
      const [shown] = found === undefined ? [] : await describeAutomations(stores, principal.organization_id, [found]);
      if (shown === undefined) throw automationNotFound();
      return shown;
    },
  });
