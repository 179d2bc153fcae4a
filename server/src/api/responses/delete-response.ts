import { endpoint } from "../../http/endpoint.ts";
import { actOnStored, storedPaths, storedResponse, type StoredResponseDeps } from "./stored-response.ts";

export const deleteResponse = (deps: StoredResponseDeps) =>
  endpoint({
    ...storedResponse,
    ...storedPaths(""),
    id: "delete_response",
    method: "DELETE",
    summary: "Delete a stored response",
    description: "Deletes a response at the provider that stores it. Its span remains.",
    handler: (context) => actOnStored(deps, { method: "DELETE", below: "" }, context),
  });
