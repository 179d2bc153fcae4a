import { readFileSync, writeFileSync } from "node:fs";
import { everyEndpoint } from "../server/test/support/endpoints.ts";
import { withTables } from "../server/test/support/permission-tables.ts";

/** Updates the tables of docs/permissions.md from the endpoints. */

const page = new URL("../docs/permissions.md", import.meta.url);
writeFileSync(page, withTables(readFileSync(page, "utf8"), everyEndpoint()));
