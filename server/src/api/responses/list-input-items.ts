import { endpoint } from "../../http/endpoint.ts";
import { actOnStored, storedPaths, storedResponse, type StoredResponseDeps } from "./stored-response.ts";

export const listInputItems = (deps: StoredResponseDeps) =>
  endpoint({
    ...storedResponse,
    ...storedPaths("/input_items"),
    id: "list_input_items",
    method: "GET",
    summary: "List the input items of a stored response",
    description: "A page of the input items of a response.",
    handler: (context) => actOnStored(deps, { method: "GET", below: "/input_items" }, context),
  });
