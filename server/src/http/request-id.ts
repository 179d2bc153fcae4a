import { randomUUID } from "node:crypto";
import { httpLimits } from "./limits.ts";

const sanePattern = /^[\w.:/+=@-]+$/;

/** The caller's own id if it is short and plain, else a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  const sane = typeof header === "string" && header.length <= httpLimits.requestIdChars && sanePattern.test(header);
  return sane ? header : randomUUID();
}
