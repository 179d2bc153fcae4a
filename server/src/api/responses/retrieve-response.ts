import { endpoint } from "../../http/endpoint.ts";
import { actOnStored, storedPaths, storedResponse, type StoredResponseDeps } from "./stored-response.ts";

export const retrieveResponse = (deps: StoredResponseDeps) =>
  endpoint({
    ...storedResponse,
    ...storedPaths(""),
    id: "retrieve_response",
    method: "GET",
    summary: "Retrieve a stored response",
    description:
      "A response that its provider keeps, from the provider and the key that made it. Streams are not resumed.",
    handler: (context) => actOnStored(deps, { method: "GET", below: "" }, context),
  });
