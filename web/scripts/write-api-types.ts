import { writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";
import { openapiDocument } from "../../server/src/http/openapi.ts";
import { everyEndpoint } from "../../server/test/support/endpoints.ts";

/** Generates the API types of the web application from the server's OpenAPI document; never edit them by hand. */

const document = openapiDocument(everyEndpoint(), { title: "Spanway", version: "0" });
const types = await openapiTS(JSON.stringify(document), { alphabetize: true, emptyObjectsUnknown: true });
writeFileSync(new URL("../src/api/schema.gen.ts", import.meta.url), astToString(types));
