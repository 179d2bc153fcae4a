import { endpoint } from "../../http/endpoint.ts";
import { eventStream } from "../gateway-docs.ts";
import { actOnStored, storedPaths, storedResponse, type StoredResponseDeps } from "./stored-response.ts";

export const retrieveResponse = (deps: StoredResponseDeps) =>
  endpoint({
    ...storedResponse,
    ...storedPaths(""),
    id: "retrieve_response",
    method: "GET",
    summary: "Retrieve a stored response",
    description:
      "A response that its provider keeps, from the provider and the key that made it. With `stream=true` the events of one that runs in the background, from `starting_after` on where that is said.",
    success: { ...storedResponse.success, alternatives: eventStream },
    handler: (context) => actOnStored(deps, { method: "GET", below: "" }, context),
  });
