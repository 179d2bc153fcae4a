import { endpoint } from "../../http/endpoint.ts";
import { describeAlert, findAlert, type AlertDeps } from "./alert-deps.ts";
import { alertParams, alertWithStatesSchema } from "./alert-schemas.ts";

export const retrieveAlert = (deps: Pick<AlertDeps, "stores" | "refusalOf">) =>
  endpoint({
    id: "retrieve_alert",
    method: "GET",
    path: "/api/alerts/{id}/",
    summary: "Retrieve an alert",
    description: "Includes the states of its groups.",
    tags: ["Alerts"],
    auth: "key_or_user",
    permission: "alerts:read",
    limit: "api",
    params: alertParams,
    success: { status: 200, schema: alertWithStatesSchema },
    errors: ["not_found"],
    handler: async ({ principal, params, url }) =>
      await describeAlert(deps, await findAlert(deps, principal.organization_id, params.id), url),
  });
