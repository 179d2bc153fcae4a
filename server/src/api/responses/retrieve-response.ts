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
      "A response that its provider stores, from the provider and the key that created it. With `stream=true`, the events of a response that runs in the background, after `starting_after` if it is given.",
    success: { ...storedResponse.success, alternatives: eventStream },
    handler: (context) => actOnStored(deps, { method: "GET", below: "" }, context),
  });
