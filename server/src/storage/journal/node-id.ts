import { readFileSync, writeFileSync } from "node:fs";
import { randomToken } from "../../lib/random-token.ts";

/**
 * Names the node that owns a data folder, the same after every restart: what it left half done is its own. Call it with the
 * folder locked.
 */
export function readNodeId(path: string): string {
  try {
    const id = readFileSync(path, "utf8").trim();
    if (/^\w{12,64}$/.test(id)) return id;
  } catch {
    // The first start.
  }
  const id = randomToken(16);
  writeFileSync(path, `${id}\n`, { mode: 0o600, flush: true });
  return id;
}
