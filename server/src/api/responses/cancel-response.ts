import { endpoint } from "../../http/endpoint.ts";
import { actOnStored, storedPaths, storedResponse, type StoredResponseDeps } from "./stored-response.ts";

export const cancelResponse = (deps: StoredResponseDeps) =>
  endpoint({
    ...storedResponse,
    ...storedPaths("/cancel"),
    id: "cancel_response",
    method: "POST",
    summary: "Cancel a response",
    description: "Cancels a response that runs in the background.",
    handler: (context) => actOnStored(deps, { method: "POST", below: "/cancel" }, context),
  });
