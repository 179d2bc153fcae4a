import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { rawJson } from "../../http/reply.ts";

/** `document` is called once, at the first request: by then the list of endpoints is complete. */
export const getOpenapi = (deps: { document: () => unknown }) => {
  let text: string | undefined;
  return endpoint({
    id: "get_openapi",
    method: "GET",
    path: "/openapi.json",
    summary: "This API as an OpenAPI 3.1 document",
    tags: ["System"],
    auth: "none",
    success: { status: 200, schema: z.looseObject({ openapi: z.string() }) },
    errors: [],
    handler: () => rawJson((text ??= JSON.stringify(deps.document()))),
  });
};
