import { randomUUID } from "node:crypto";

/** A name that no other test and no earlier try of the same test uses: all share one server. */
export const unique = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`;
