import { writeFileSync } from "node:fs";
import { allLimits, pageOfLimits } from "../server/test/support/all-limits.ts";

/** Writes docs/all-limits.md. */

writeFileSync(new URL("../docs/all-limits.md", import.meta.url), pageOfLimits(await allLimits()));
